import { waitFor } from '@kube-semaphore/testkit';
import type { Accounts } from './accounts.ts';
import { type PolicyProcess, spawnPolicy } from './policy-process.ts';

/** Flags without their hyphen; undefined leaves one of the usual flags out. */
export type PolicyFlags = Readonly<Record<string, string | number | undefined>>;

/** How a start differs from the usual. */
export type StartOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** Resolve when the process is ready, and not at once. Default true. */
  readonly ready?: boolean;
};

/** What every test but those of flags starts a policy with. */
export const usualFlags = ({ local, remote }: Accounts): PolicyFlags => ({
  'local-kube-config': local.kubeconfig,
  'target-kube-config': remote.kubeconfig,
  'target-cluster-name': 'c2',
  'listen-address': '127.0.0.1:0',
});

/** A command line. */
export function argvOf(flags: PolicyFlags): string[] {
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`-${flag}=${value}`]));
}

/** Starts a policy with the usual flags and others, which win. */
export function startPolicy(accounts: Accounts, flags: PolicyFlags = {}, env: StartOptions['env'] = {}): PolicyProcess {
  return spawnPolicy(argvOf({ ...usualFlags(accounts), ...flags }), env);
}

/** Waits until the process says of itself that it is ready. */
export async function untilReady(policy: PolicyProcess): Promise<void> {
  await waitFor('/readyz to say 200', async () => (await policy.get('/readyz')).status === 200 || undefined);
}
