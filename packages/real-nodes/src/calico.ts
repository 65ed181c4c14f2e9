import { bash, calicoCrdFile, type RealCluster } from '@kube-semaphore/testkit';

const apiVersion = 'crd.projectcalico.org/v1';

/** Objects that Calico's installer creates: Felix waits for a ready datastore, and policies need a tier and a pool. */
const objectsFor = (clusterCidr: string): readonly object[] => [
  { apiVersion, kind: 'ClusterInformation', metadata: { name: 'default' }, spec: { datastoreReady: true } },
  {
    apiVersion,
    kind: 'Tier',
    metadata: { name: 'default' },
    spec: { order: 1_000_000, defaultAction: 'Deny' },
  },
  {
    apiVersion,
    kind: 'IPPool',
    metadata: { name: 'pods' },
    spec: {
      cidr: clusterCidr,
      ipipMode: 'Never',
      vxlanMode: 'Never',
      natOutgoing: false,
      allowedUses: ['Workload'],
      blockSize: 26,
      nodeSelector: 'all()',
    },
  },
];

/** Installs what Felix and Calico's CNI plugin need in a cluster, with the CRDs of their version. */
export async function prepareCalico(cluster: RealCluster, clusterCidr: string): Promise<void> {
  const items = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objectsFor(clusterCidr) });
  await bash(
    `kubectl apply --server-side --filename ${calicoCrdFile()}
    kubectl wait --for=condition=Established --filename ${calicoCrdFile()} --timeout=60s
    kubectl apply --filename - <<'END'\n${items}\nEND`,
    cluster,
  );
}

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
  // It is built without BPF. The last one, which is spelled so, keeps it from removing BPF programs, as that panics.
  FELIX_BPFENABLED: 'false',
  FELIX_XDPENABLED: 'false',
  FELIX_DebugSkipCTLBCleanup: 'true',
});

/** The network of a node's Pods by Calico's CNI plugin, with addresses from the node's range instead of Calico's IPAM. */
export const calicoNetwork = (name: string, podCidr: string, kubeconfig: string): object => ({
  cniVersion: '0.3.1',
  name: 'k8s-pod-network',
  plugins: [
    {
      type: 'calico',
      datastore_type: 'kubernetes',
      nodename: name,
      nodename_file_optional: true,
      mtu: 1500,
      ipam: { type: 'host-local', ranges: [[{ subnet: podCidr }]] },
      policy: { type: 'k8s' },
      kubernetes: { kubeconfig },
    },
    { type: 'portmap', snat: true, capabilities: { portMappings: true } },
  ],
});
