import { mustParseCidr } from '@kube-semaphore/net';
import type { Cluster } from '../../src/link/findings/findings.ts';

/** A cluster as `semaphore link` finds it. */
export const linkedCluster = (name: string, change: Partial<Cluster> = {}): Cluster => ({
  context: name,
  name,
  uid: name,
  server: `https://${name}`,
  podCidrs: [mustParseCidr('10.4.0.0/16')],
  serviceCidrs: [],
  nodeCidrs: [],
  ipam: 'podCIDRs',
  calico: 'projectcalico.org/v3',
  minor: 34,
  hasMcs: false,
  apiServerIps: [],
  nodeIps: [],
  takenPorts: [],
  dns: { kind: 'CoreDNS', servers: [], domain: undefined },
  ...change,
});
