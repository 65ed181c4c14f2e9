import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { calicoCrds, type RealCluster } from '@kube-semaphore/testkit';

const apiVersion = 'crd.projectcalico.org/v1';

/** What gives Pods their addresses: the plugin host-local, or Calico's IPAM, which keeps blocks of addresses. */
export type Ipam = 'host-local' | 'calico-ipam';

/** Objects that Calico's installer creates: Felix waits for a ready datastore, and policies need a tier. */
const objects = {
  clusterinformations: {
    apiVersion,
    kind: 'ClusterInformation',
    metadata: { name: 'default' },
    spec: { datastoreReady: true },
  },
  tiers: { apiVersion, kind: 'Tier', metadata: { name: 'default' }, spec: { order: 1_000_000, defaultAction: 'Deny' } },
};

/** Installs what Felix and Calico's CNI plugin need in a cluster, with the CRDs of their version. */
export async function prepareCalico(cluster: RealCluster): Promise<void> {
  await Promise.all(calicoCrds().map((crd) => cluster.defineResource(crd)));
  for (const [plural, object] of Object.entries(objects))
    await cluster.admin.create(`/apis/${apiVersion}/${plural}`, object);
}

/**
 * The pool of a node's Pods. Usually, a cluster has one pool, and Calico makes the routes to its blocks; here, routes lead to
 * the range of each node. As installers have it, packets to addresses outside of all pools get the address of the node.
 */
export const nodePool = (node: string, podCidr: string): KubeObject => ({
  apiVersion,
  kind: 'IPPool',
  metadata: { name: node },
  spec: {
    cidr: podCidr,
    ipipMode: 'Never',
    vxlanMode: 'Never',
    natOutgoing: true,
    allowedUses: ['Workload'],
    blockSize: 26,
    nodeSelector: `kubernetes.io/hostname == '${node}'`,
  },
});

/** Felix's variables. It enforces policies with nftables, as kube-proxy does, and doesn't touch routes between nodes. */
export const felixVariables = (name: string, kubeconfig: string): Readonly<Record<string, string>> => ({
  DATASTORE_TYPE: 'kubernetes',
  KUBECONFIG: kubeconfig,
  FELIX_DATASTORETYPE: 'kubernetes',
  FELIX_FELIXHOSTNAME: name,
  FELIX_NFTABLESMODE: 'Enabled',
  FELIX_IPV6SUPPORT: 'false',
  FELIX_LOGSEVERITYFILE: 'none',
  FELIX_LOGSEVERITYSYS: 'none',
  FELIX_USAGEREPORTINGENABLED: 'false',
  FELIX_ROUTESOURCE: 'WorkloadIPs',
  FELIX_DEFAULTENDPOINTTOHOSTACTION: 'ACCEPT',
  FELIX_VXLANENABLED: 'false',
  FELIX_IPINIPENABLED: 'false',
  FELIX_REMOVEEXTERNALROUTES: 'false',
  // It is built without BPF. The last one, which is spelled so, keeps it from removing BPF programs, which would panic.
  FELIX_BPFENABLED: 'false',
  FELIX_XDPENABLED: 'false',
  FELIX_DebugSkipCTLBCleanup: 'true',
});

/** The network of a node's Pods by Calico's CNI plugin. */
export const calicoNetwork = (name: string, podCidr: string, kubeconfig: string, ipam: Ipam): object => ({
  cniVersion: '0.3.1',
  name: 'k8s-pod-network',
  plugins: [
    {
      type: 'calico',
      datastore_type: 'kubernetes',
      nodename: name,
      nodename_file_optional: true,
      mtu: 1500,
      ipam: { type: ipam, ...(ipam === 'host-local' && { ranges: [[{ subnet: podCidr }]] }) },
      policy: { type: 'k8s' },
      kubernetes: { kubeconfig },
    },
    { type: 'portmap', snat: true, capabilities: { portMappings: true } },
  ],
});
