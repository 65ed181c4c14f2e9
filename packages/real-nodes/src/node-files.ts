/** What the configuration of a node's programs depends on. */
export type NodeSettings = {
  /** The folder of its files, the same inside and outside of its namespaces. */
  readonly dir: string;
  readonly name: string;
  /** The range of all Pods of the cluster. */
  readonly clusterCidr: string;
  /** The address of the cluster's DNS. */
  readonly clusterDns: string;
  /** PEM file of the CA of the certificate by which the API server authenticates to kubelets. */
  readonly clientCaFile: string;
};

/** The folder of Debian's package containernetworking-plugins. */
export const CNI_PLUGINS = '/usr/lib/cni';

/** The image of the container that holds a Pod's namespaces. */
export const PAUSE_IMAGE = 'localhost/pause:1';

/** Snapshotters that need other file systems, and a plugin that writes to /opt. */
const needlessPlugins = ['snapshotter.v1.btrfs', 'snapshotter.v1.zfs', 'snapshotter.v1.devmapper', 'internal.v1.opt'];

/** containerd's configuration. */
export function containerdConfig({ dir }: Pick<NodeSettings, 'dir'>): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
disabled_plugins = [${needlessPlugins.map((plugin) => `"io.containerd.${plugin}"`).join(', ')}]
[${cri}]
  sandbox_image = "${PAUSE_IMAGE}"
  disable_apparmor = true
  # A sandbox asks for a lower oom_score_adj. Without CAP_SYS_RESOURCE that makes runc fail.
  restrict_oom_score_adj = true
  [${cri}.cni]
    bin_dir = "${dir}/plugins"
    conf_dir = "${dir}/cni"
  [${cri}.containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [${cri}.containerd.runtimes.runc.options]
      SystemdCgroup = false
`;
}

/** Periods of a kubelet. Default: Kubernetes' own values. */
export type KubeletTimes = {
  /** How often it reports the status of its Node. */
  readonly statusSeconds?: number;
  /** How long its Lease is valid, which it renews four times as often. */
  readonly leaseSeconds?: number;
  /** How often it refreshes volumes. */
  readonly syncSeconds?: number;
};

/** The kubelet's configuration. */
export function kubeletConfig(
  { dir, clusterDns, clientCaFile }: NodeSettings,
  { statusSeconds = 10, leaseSeconds = 40, syncSeconds = 60 }: KubeletTimes = {},
): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: clientCaFile },
    },
    authorization: { mode: 'Webhook' },
    clusterDNS: [clusterDns],
    clusterDomain: 'cluster.local',
    resolvConf: `${dir}/resolv.conf`,
    cgroupDriver: 'cgroupfs',
    // 1.35 and later refuse cgroup v1 by default.
    failCgroupV1: false,
    failSwapOn: false,
    // All nodes share one disk and one memory, of which other programs use most.
    evictionHard: Object.fromEntries(
      ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree'].map(
        (signal) => [signal, '0%'],
      ),
    ),
    imageGCHighThresholdPercent: 100,
    healthzPort: 0,
    syncFrequency: `${syncSeconds}s`,
    nodeStatusUpdateFrequency: `${statusSeconds}s`,
    nodeLeaseDurationSeconds: leaseSeconds,
  };
}

/** kube-proxy's configuration. */
export function kubeProxyConfig({ dir, name, clusterCidr }: NodeSettings): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: `${dir}/kube-proxy.kubeconfig` },
    hostnameOverride: name,
    clusterCIDR: clusterCidr,
    // A network namespace can't change the size of this table.
    conntrack: { maxPerCore: 0 },
  };
}

/** The network of a node's Pods: a bridge with the node's range. */
export function podNetwork(podCidr: string): object {
  return {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        hairpinMode: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: podCidr }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}
