import type { PolicyRule } from '@kube-semaphore/embedded-apiserver';
import type { CalicoGroup } from '@kube-semaphore/testkit';

/** A release of the Go program, by what one sees of it from outside. */
export type GoRelease = {
  readonly name: string;
  /** Domain of the labels of Pods and sets. */
  readonly domain: string;
  readonly managedBy: string;
  /** What its variables begin with. */
  readonly prefix: 'KPS' | 'SP';
  /** The API by which it writes sets, which is also the only one that its role names. */
  readonly group: CalicoGroup;
  /** Flags that people gave it besides its variables: those that it has. */
  readonly argv: readonly string[];
};

/** Its first domain, and that of later releases. */
const [FIRST, LATER] = ['semaphore.uw.systems', 'policy.semaphore.uw.io'] as const;

const periods = ['-full-store-resync-period=60m', '-pod-resync-period', '60m'];

/**
 * The Go program through its history (utilitywarehouse/semaphore-policy, once kube-policy-semaphore). Up to the last
 * row it writes through libcalico-go; that one uses Calico's API server, compares all sets at its start only, and has
 * no -full-store-resync-period any more.
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
