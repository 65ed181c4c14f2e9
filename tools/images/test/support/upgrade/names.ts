/** The two clusters. Pods of c1 call Pods of c2. */
export const clusterNames = ['c1', 'c2'] as const;
export type ClusterName = (typeof clusterNames)[number];

export const otherName = { c1: 'c2', c2: 'c1' } as const;
export const podRange = { c1: '10.2.0.0/16', c2: '10.4.0.0/16' } as const;

/** The device of a node has the number of the remote in its port. */
export const devicePort = { c1: 51_821, c2: 51_822 } as const;

export const SHOP = 'shop';
export const MIRRORS = 'sys-semaphore';

/** Make a Service of c2 a mirror, and global. */
export const selected = { mirror: 'true', global: 'true' } as const;

export const MCS = '/apis/multicluster.x-k8s.io/v1beta1';
export const SLICES = '/apis/discovery.k8s.io/v1';
export const POLICIES = '/apis/networking.k8s.io/v1';
export const SETS = '/apis/crd.projectcalico.org/v1/globalnetworksets';
