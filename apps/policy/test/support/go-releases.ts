import type { PolicyRule } from '@kube-semaphore/embedded-apiserver';
import type { CalicoGroup } from '@kube-semaphore/testkit';

/** A release of the Go program, as seen from outside. */
export type GoRelease = {
  readonly name: string;
  /** Domain of the labels of Pods and sets. */
  readonly domain: string;
  readonly managedBy: string;
  /** The prefix of its variables. */
  readonly prefix: 'KPS' | 'SP';
  /** The API by which it writes sets, the only one in its role. */
  readonly group: CalicoGroup;
  /** Flags beside its variables, as far as it has them. */
  readonly argv: readonly string[];
};

/** Its first domain, and that of later releases. */
const [FIRST, LATER] = ['semaphore.uw.systems', 'policy.semaphore.uw.io'] as const;

const periods = ['-full-store-resync-period=60m', '-pod-resync-period', '60m'];

/**
 * The releases of the Go program (utilitywarehouse/semaphore-policy, once kube-policy-semaphore). All but the last write
 * through libcalico-go. The last one uses Calico's API server, compares all sets at its start only, and has no
 * -full-store-resync-period.
 */
export const goReleases: readonly GoRelease[] = [
  {
    name: 'before v0.1.2',
    domain: FIRST,
    managedBy: 'calico-global-network-sync-operator',
    prefix: 'KPS',
    group: 'crd.projectcalico.org',
    argv: periods,
  },
  {
    name: 'v0.1.2',
    domain: FIRST,
    managedBy: 'kube-policy-semaphore',
    prefix: 'KPS',
    group: 'crd.projectcalico.org',
    argv: periods,
  },
  {
    name: 'v0.1.3',
    domain: FIRST,
    managedBy: 'semaphore-policy',
    prefix: 'SP',
    group: 'crd.projectcalico.org',
    argv: periods,
  },
  {
    name: 'v0.1.4',
    domain: LATER,
    managedBy: 'semaphore-policy',
    prefix: 'SP',
    group: 'crd.projectcalico.org',
    argv: periods,
  },
  {
    name: 'later, on projectcalico.org/v3',
    domain: LATER,
    managedBy: 'semaphore-policy',
    prefix: 'SP',
    group: 'projectcalico.org',
    argv: ['--pod-resync-period=0', '-log-level', 'info'],
  },
];

/** The roles of its manifests. */
export const goRules = ({ group }: GoRelease): Readonly<Record<'local' | 'remote', readonly PolicyRule[]>> => ({
  local: [
    { apiGroups: [group], resources: ['globalnetworksets'], verbs: ['create', 'delete', 'get', 'list', 'update'] },
  ],
  remote: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] }],
});
