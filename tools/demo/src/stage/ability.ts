import { spawnSync } from 'node:child_process';
import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { findBinaries } from '@kube-semaphore/testkit';

/** What of semaphore-wireguard a machine can show; `path` is the PATH for it. */
export type Ability =
  | { readonly kind: 'tunnels'; readonly path: string; readonly carrier: 'the kernel' | 'wireguard-go' }
  /** What its agent would do on this machine, as it is. */
  | { readonly kind: 'plan'; readonly path: string; readonly lacks: readonly string[] }
  | { readonly kind: 'nothing'; readonly lacks: readonly string[] };

/** What there is on a machine. */
export type Facts = {
  readonly path: string;
  /** Programs that the PATH doesn't lead to, of all that the demo or an agent runs. */
  readonly missing: readonly string[];
  /** Whether we are root, and may make network namespaces. */
  readonly isRoot: boolean;
  readonly hasNamespaces: boolean;
  readonly hasKernelWireGuard: boolean;
  readonly hasTun: boolean;
  /** Where wireguard-go was built. */
  readonly wireguardGo: string | undefined;
};

/** What an agent runs. */
const agentTools = ['wg', 'ip'];
/** What nodes are made of, and what watches them. */
const meshTools = ['unshare', 'nsenter', 'mount', 'bash', 'ping', 'tcpdump'];

/** Decides what is shown. */
export function abilityOf(facts: Facts): Ability {
  const { path, missing, isRoot, hasNamespaces, hasKernelWireGuard, hasTun, wireguardGo } = facts;
  // Who isn't root can't see what else there is.
  const mayMakeNamespaces = hasNamespaces || missing.includes('unshare') ? [] : ['the right to make network namespaces'];
  const rights = isRoot ? mayMakeNamespaces : ['root'];
  const carriers = [...(hasTun ? [] : ['/dev/net/tun']), ...(wireguardGo === undefined ? ['wireguard-go, which "npm run binaries" builds'] : [])];
  const lacks = [...rights, ...missing, ...(isRoot && !hasKernelWireGuard ? carriers : [])];
  if (lacks.length > 0) return missing.some((tool) => agentTools.includes(tool)) ? { kind: 'nothing', lacks } : { kind: 'plan', path, lacks };
  if (hasKernelWireGuard) return { kind: 'tunnels', path, carrier: 'the kernel' };
  return { kind: 'tunnels', path: [dirname(wireguardGo ?? ''), path].join(delimiter), carrier: 'wireguard-go' };
}

/** Looks at this machine, and leaves it as it is; the kernel may load its module of WireGuard when it is asked for that. */
export function lookAround(env: Readonly<Record<string, string | undefined>>): Facts {
  const path = env['PATH'] ?? '';
  const isRoot = process.getuid?.() === 0;
  const built = findBinaries(['wireguard-go'], env);
  // In a namespace that goes when the command ends.
  const works = (args: readonly string[]) => isRoot && spawnSync('unshare', ['--net', '--mount', ...args], { env: { PATH: path } }).status === 0;
  return {
    path,
    missing: [...agentTools, ...meshTools].filter((tool) => !path.split(delimiter).some((folder) => isProgram(join(folder, tool)))),
    isRoot,
    hasNamespaces: works(['true']),
    hasKernelWireGuard: works(['ip', 'link', 'add', 'dev', 'wg0', 'type', 'wireguard']),
    hasTun: hasTun(),
    wireguardGo: built.ok ? built.paths['wireguard-go'] : undefined,
  };
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // absent, or not ours to run: both mean that there is no such program
  }
}

/** A container may show the device and yet not let anybody open it. */
function hasTun(): boolean {
  try {
    closeSync(openSync('/dev/net/tun', 'r+'));
    return true;
  } catch {
    return false;
  }
}
