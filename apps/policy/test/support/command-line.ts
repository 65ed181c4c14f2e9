import type { Accounts } from './accounts.ts';

/** Flags without their hyphen; undefined removes one of the usual flags. */
export type PolicyFlags = Readonly<Record<string, string | number | undefined>>;

/** The flags of a policy in every test, except tests of flags. */
export const usualFlags = ({ local, remote }: Accounts): PolicyFlags => ({
  'local-kube-config': local.kubeconfig,
  'target-kube-config': remote.kubeconfig,
  'target-cluster-name': 'c2',
  'allowed-pod-cidrs': '10.0.0.0/8,192.168.0.0/16,fd00::/8',
  'listen-address': '127.0.0.1:0',
});

/** A command line. */
export function argvOf(flags: PolicyFlags): string[] {
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`-${flag}=${value}`]));
}
