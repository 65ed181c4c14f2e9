import { fileURLToPath } from 'node:url';
import { type Program, spawnProgram } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import type { Accounts } from './accounts.ts';

/** semaphore-service-mirror as a process. */
export type MirrorProcess = Program;

/** Flags without their hyphen; undefined leaves one of the usual flags out. */
export type MirrorFlags = Readonly<Record<string, string | number | undefined>>;

/** The mirror namespace of all tests. */
export const MIRRORS = 'sys-semaphore';

/** The labels of every mirror of `c2`, also of the Go program's. */
export const mirrorLabels = { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c2' } as const;

/** The flags that most tests start a mirror with. */
export const usualFlags = ({ local, remote }: Accounts): MirrorFlags => ({
  'kube-config': local.kubeconfig,
  'target-kube-config': remote.kubeconfig,
  'svc-prefix': 'c2',
  'label-selector': 'mirror=true',
  'mirror-ns': MIRRORS,
  'allowed-pod-cidrs': '10.0.0.0/8,fd00::/8',
  'listen-address': '127.0.0.1:0',
});

/** A command line. */
export function argvOf(flags: MirrorFlags): string[] {
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`-${flag}=${value}`]));
}

const launcher = fileURLToPath(new URL('../../bin/semaphore-service-mirror.js', import.meta.url));

/** Starts it with these arguments and variables, without the variables of the test process. @param place as `spawnProgram` */
export const spawnMirror = (
  argv: readonly string[],
  env: Readonly<Record<string, string>> = {},
  place?: Place,
): MirrorProcess => spawnProgram(launcher, argv, env, { place });
