import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { bash, helm, type RealCluster } from '@kube-semaphore/testkit';
import { type ClusterName, devicePort, otherName, podRange } from './names.ts';

const RELEASE = ['kube-semaphore', '--namespace=kube-system'];

/** What a user of the charts chooses in a cluster. Each cluster reads the other one. */
function valuesOf(name: ClusterName): object {
  const remote = otherName[name];
  return {
    global: {
      cluster: { name, cidrs: [podRange[name]] },
      remotes: [{ name: remote, remoteAPIURL: `https://${remote}.example:6443`, allowedPodCIDRs: [podRange[remote]] }],
    },
    'semaphore-policy': { networkPolicies: { enabled: true }, remoteAccount: { namespaces: true } },
    'semaphore-service-mirror': { globalServices: true, mcs: { enabled: true } },
    'semaphore-wireguard': { remotes: [{ name: remote, wgListenPort: devicePort[remote] }] },
  };
}

/** The release of kube-semaphore in a cluster. No kubelet runs its Pods there. */
export class Release {
  readonly #cluster: RealCluster;
  readonly #values: object;

  constructor(name: ClusterName, cluster: RealCluster) {
    this.#cluster = cluster;
    this.#values = valuesOf(name);
  }

  /** Installs the charts of a version, or upgrades to them. Resolves when the kinds of Multi-Cluster Services are there. */
  async upgrade(charts: string): Promise<void> {
    await this.#helm(['upgrade', '--install', ...RELEASE, `${charts}/kube-semaphore`], this.#values);
    const group = 'multicluster.x-k8s.io';
    await bash(
      `kubectl wait --for=condition=Established --timeout=5m crd/serviceexports.${group} crd/serviceimports.${group}`,
      this.#cluster,
    );
  }

  /** Goes back to the version before. */
  async rollback(): Promise<void> {
    await this.#helm(['rollback', ...RELEASE]);
  }

  /** The UIDs of its objects, by kind, namespace and name. @throws {Error} if the cluster lacks one */
  async objects(): Promise<Readonly<Record<string, string>>> {
    const manifest = await this.#helm(['get', 'manifest', ...RELEASE]);
    const { stdout } = await bash(`kubectl get -o json -f - <<'END'\n${manifest}\nEND`, this.#cluster);
    const { items } = JSON.parse(stdout) as { readonly items: readonly KubeObject[] };
    return Object.fromEntries(
      items.map(({ kind, metadata: { namespace = '', name, uid = '' } }) => [`${kind} ${namespace}/${name}`, uid]),
    );
  }

  async #helm(args: readonly string[], values?: object): Promise<string> {
    return (await helm(args, { values, kubeconfig: this.#cluster.adminKubeconfig })).stdout;
  }
}
