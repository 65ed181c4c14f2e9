import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { findBinaries, isProgram } from '@kube-semaphore/testkit';

/** The parts of semaphore-wireguard that this machine can show. */
export type Ability = {
  /** Missing requirements of tunnels. */
  readonly lacks: readonly string[];
  /** Whether an agent can say what it would do on this machine. */
  readonly canPlan: boolean;
  /** The PATH for agents. */
  readonly path: string;
  readonly carrier: 'the kernel' | 'wireguard-go';
};

const agentTools = ['wg', 'ip'];
const meshTools = ['unshare', 'nsenter', 'mount', 'bash', 'ping', 'tcpdump'];

/** Decides which parts to show. */
export function abilityOf(facts: Facts): Ability {
  const { path, missing, isRoot, hasNamespaces, hasKernelWireGuard, hasTun, wireguardGo } = facts;
  // Only root can check the rest. Without unshare, it is unknown whether namespaces are allowed.
  const isRefused = isRoot && !hasNamespaces && !missing.includes('unshare');
  const needsCarrier = isRoot && !hasKernelWireGuard;
  const lacks = [
    ...(isRoot ? [] : ['root']),
    ...(isRefused ? ['the right to make network namespaces'] : []),
    ...missing,
    ...(needsCarrier && !hasTun ? ['/dev/net/tun'] : []),
    ...(needsCarrier && wireguardGo === undefined ? ['wireguard-go, which "npm run binaries" builds'] : []),
  ];
  const canPlan = !agentTools.some((tool) => missing.includes(tool));
  if (hasKernelWireGuard || wireguardGo === undefined) return { lacks, canPlan, path, carrier: 'the kernel' };
  return { lacks, canPlan, path: [dirname(wireguardGo), path].join(delimiter), carrier: 'wireguard-go' };
}

/** The facts about a machine. */
export type Facts = Readonly<ReturnType<typeof readFacts>>;

/** Reads the facts of this machine. The kernel may load its WireGuard module when asked for it. */
export function readFacts(env: Readonly<Record<string, string | undefined>>) {
  const path = env['PATH'] ?? '';
  const isRoot = process.getuid?.() === 0;
  const built = findBinaries(['wireguard-go'], env);
  // In a namespace that is deleted when the command ends.
  const worksInside = (...command: readonly string[]) =>
    isRoot && spawnSync('unshare', ['--net', '--mount', ...command], { env: { PATH: path } }).status === 0;
  return {
    path,
    /** Programs that the demo or an agent runs, and that are not in the PATH. */
    missing: [...agentTools, ...meshTools].filter((tool) => !isProgram(tool, path)),
    isRoot,
    hasNamespaces: worksInside('true'),
    hasKernelWireGuard: worksInside('ip', 'link', 'add', 'dev', 'wg0', 'type', 'wireguard'),
    // A container may have the device, and still not be allowed to open it.
    hasTun: works(() => closeSync(openSync('/dev/net/tun', 'r+'))),
    wireguardGo: built.ok ? built.paths['wireguard-go'] : undefined,
  };
}

function works(probe: () => void): boolean {
  try {
    probe();
    return true;
  } catch {
    return false; // Missing or forbidden: the demo can't use it.
  }
}
