import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import {
  builtImage,
  dnsImage,
  dnsManifests,
  type ImageSource,
  NodeCluster,
  type RealNode,
} from '@kube-semaphore/real-nodes';
import { bash, docBlocks, imageName, type Kubernetes, type RealCluster } from '@kube-semaphore/testkit';
import type { Network } from '@kube-semaphore/testnet';
import { Calls } from './calls/calls.ts';
import { callPrograms } from './calls/programs.ts';
import { type App, workloads } from './manifests.ts';
import { callerLabels, SHOP } from './shop-manifests.ts';

/** The usual address of a cluster's DNS. */
const CLUSTER_DNS = '10.96.0.10';

/** The Pod range of the cluster with this name; of the first two as in deploy/overlays/example. */
export const podRanges = { c1: '10.2.0.0/16', c2: '10.4.0.0/16', c3: '10.6.0.0/16', c4: '10.8.0.0/16' } as const;

export type ClusterName = keyof typeof podRanges;

/** How Pods get addresses in the cluster with this name. The others find out. */
const ipam = { c1: 'host-local', c2: 'calico-ipam', c3: 'host-local', c4: 'calico-ipam' } as const;

/** The image of an app, as a later release would be called. */
const nextImage = (app: App): string => `${imageName(app)}-next`;

const appNames = Object.keys(workloads) as readonly App[];

/** A Pod, as far as the scenarios need it. */
export type Pod = {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
};

export const isReady = ({ status: { conditions = [] } }: Pod): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

export type SideOptions = {
  /** As in the options of a system. */
  readonly registryPort: number | undefined;
  /** Of all nodes, besides their own. */
  readonly images: readonly ImageSource[];
  /** Default `kubernetes`. */
  readonly kubernetes: Kubernetes | undefined;
  /** When a node counts as lost that doesn't report. */
  readonly lossSeconds: number;
};

/** One of the clusters, with its nodes on a network. */
export class Side {
  readonly name: ClusterName;
  readonly #nodes: NodeCluster;
  readonly #registryPort: number | undefined;

  private constructor(name: ClusterName, nodes: NodeCluster, registryPort: number | undefined) {
    this.name = name;
    this.#nodes = nodes;
    this.#registryPort = registryPort;
  }

  /** Starts a control plane. */
  static async start(
    name: ClusterName,
    network: Network,
    { images, registryPort, kubernetes, lossSeconds }: SideOptions,
  ): Promise<Side> {
    const apps = registryPort === undefined ? appNames : [];
    const nodes = await NodeCluster.start({
      name,
      network,
      kubernetes,
      clusterCidr: podRanges[name],
      serviceCidr: '10.96.0.0/16',
      calico: ipam[name],
      images: [dnsImage(), ...images, ...apps.map((app) => builtImage(imageName(app), [nextImage(app)]))],
      times: { statusSeconds: 1, leaseSeconds: 4, syncSeconds: 1 },
      controllerManagerFlags: { 'node-monitor-period': '500ms', 'node-monitor-grace-period': `${lossSeconds}s` },
    });
    return new Side(name, nodes, registryPort);
  }

  get cluster(): RealCluster {
    return this.#nodes.cluster;
  }

  get nodes(): readonly RealNode[] {
    return this.#nodes.nodes;
  }

  /** The node with this name. @throws {Error} if there isn't one */
  node(name: string): RealNode {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`${this.name} has no node ${name}`);
    return found;
  }

  /** Runs kubectl as an administrator. @returns its standard output */
  async kubectl(commands: string): Promise<string> {
    return (await bash(`kubectl ${commands}`, this.cluster)).stdout;
  }

  /** Applies objects as an administrator. */
  async apply(items: readonly object[]): Promise<void> {
    await this.applyText(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  }

  /** Applies a manifest as an administrator. */
  async applyText(manifest: string): Promise<void> {
    await this.kubectl(`apply --server-side --force-conflicts -f - <<'END'\n${manifest}\nEND`);
  }

  /** The Pods of a namespace with this label, also those that end. */
  async pods(namespace: string, app: string): Promise<readonly Pod[]> {
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}`;
    return (await this.cluster.admin.list(path)) as unknown as readonly Pod[];
  }

  /** The logs of kube-semaphore, for the report of a failure. */
  async logs(): Promise<string> {
    const commands = appNames.map(
      (app) =>
        `kubectl -n ${workloads[app].namespace} logs -l app=semaphore-${app} --all-containers --prefix --tail=60 2>&1 || true`,
    );
    const { stdout } = await bash(['kubectl get pods -A -o wide || true', ...commands].join('\n'), this.cluster);
    return `${this.name}:\n${stdout}`;
  }

  /** Prepares the cluster as an administrator would: nodes and DNS. */
  async build(count: number): Promise<void> {
    for (const { machine } of await this.#nodes.addNodes(count))
      if (this.#registryPort !== undefined) await machine.forward(this.#registryPort);
    const [corefile = ''] = docBlocks('service-mirror.md', 'Names in CoreDNS', '');
    // Without the rules of the page: the link adds its own.
    const before = corefile
      .replaceAll(/^ *rewrite (?:\w+ name .*|stop \{\n[^]*?^ {4}\})\n/gm, '')
      .replace('reload', 'reload 2s');
    await this.apply(dnsManifests(CLUSTER_DNS, before));
    await this.addPrograms(SHOP);
    await this.endsRollout('kube-system', 'deployment/coredns');
  }

  /** Adds a namespace, with the programs of Pods in it. */
  async addPrograms(namespace: string): Promise<void> {
    const data = {
      'web.mts': await readFile(callPrograms.web, 'utf8'),
      'caller.mts': await readFile(callPrograms.caller, 'utf8'),
    };
    await this.apply([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'programs', namespace }, data },
    ]);
  }

  /** Adds a node, with an agent. */
  async addNode(): Promise<RealNode> {
    const [node] = await this.#nodes.addNodes(1);
    if (node === undefined) throw new Error('no node was added');
    await this.rolledOut('wireguard');
    return node;
  }

  /** Waits until all Pods of an app are updated and ready. */
  async rolledOut(app: App): Promise<void> {
    const { workload, namespace } = workloads[app];
    await this.endsRollout(namespace, workload);
  }

  /** Waits until all Pods of a workload, such as `deployment/web`, are updated and ready. */
  async endsRollout(namespace: string, workload: string): Promise<void> {
    await this.kubectl(`-n ${namespace} rollout status ${workload} --timeout=10m`);
  }

  /** Waits until all apps are ready. */
  async ready(): Promise<void> {
    await Promise.all(appNames.map((app) => this.rolledOut(app)));
  }

  /** Gives the Pods of an app the image of the next release. */
  async upgrade(app: App): Promise<void> {
    const { workload, namespace } = workloads[app];
    await this.kubectl(`-n ${namespace} set image ${workload} '*=${nextImage(app)}'`);
    await this.rolledOut(app);
  }

  /** Moves all Pods away from a node, but for those of DaemonSets and the caller. Resolves when others replace them. */
  async drain({ name }: RealNode): Promise<void> {
    const others = Object.entries(callerLabels).map(([label, value]) => `${label}!=${value}`);
    await this.kubectl(
      `drain ${name} --ignore-daemonsets --delete-emptydir-data --pod-selector='${others.join()}' --timeout=10m`,
    );
    await this.ready();
    await this.endsRollout('kube-system', 'deployment/coredns');
  }

  /** Lets a node get Pods again. */
  async uncordon({ name }: RealNode): Promise<void> {
    await this.kubectl(`uncordon ${name}`);
  }

  /** Kills a kubelet, and resolves when another one runs and answers. */
  async restartKubelet(node: RealNode): Promise<void> {
    const pidOf = () => node.run('pgrep', ['-x', 'kubelet']).catch(() => '');
    const before = await pidOf();
    await node.killKubelet();
    await eventually(pidOf, (pid) => pid !== '' && pid !== before, { what: `another kubelet on ${node.name}` });
    const answer = () => this.kubectl(`get --raw /api/v1/nodes/${node.name}/proxy/healthz`).catch(String);
    await eventually(answer, 'ok', { what: `the kubelet of ${node.name}` });
    await node.ready();
  }

  /** Gives the cluster another CA, and removes the old one. @param distribute gives the CAs to other clusters */
  async changeCa(distribute: () => Promise<void>): Promise<void> {
    const { cluster } = this;
    await cluster.announceCa();
    await this.#renewCertificates();
    await this.#hasCaInSecrets();
    // It reads its CA once.
    await this.kubectl('-n kube-system rollout restart deployment/coredns');
    await this.endsRollout('kube-system', 'deployment/coredns');
    await distribute();
    await cluster.stopApiserver();
    await cluster.changeCa();
    await this.#renewCertificates();
    await cluster.removeOldCa();
    await this.#hasCaInSecrets();
    await distribute();
  }

  async #renewCertificates(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.renewCertificates()));
    await Promise.all(this.nodes.map((node) => node.ready()));
  }

  /** Resolves when the Secrets of accounts have the CAs as they are now. */
  async #hasCaInSecrets(): Promise<void> {
    const ca = (await readFile(this.cluster.caFile)).toString('base64');
    const secret = `-n kube-system get secret semaphore-policy-watcher -o jsonpath='{.data.ca\\.crt}'`;
    await eventually(() => this.kubectl(secret), ca, { what: 'the CAs in the Secrets of accounts' });
  }

  /** The node of the Pod by which service-mirror writes; undefined while none leads. */
  async mirrorLeader(): Promise<RealNode | undefined> {
    const { namespace } = workloads['service-mirror'];
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/semaphore-service-mirror-${this.name}`;
    const { holderIdentity } = (await this.cluster.admin.get(path))['spec'] as { readonly holderIdentity: string };
    const pods = await this.pods(namespace, 'semaphore-service-mirror');
    const leading = pods.find(({ metadata }) => holderIdentity.startsWith(metadata.name));
    return this.nodes.find(({ name }) => name === leading?.spec.nodeName);
  }

  /** The addresses of a set; undefined if there is no such set. */
  async netsOf(set: string): Promise<readonly string[] | undefined> {
    const path = `/apis/crd.projectcalico.org/v1/globalnetworksets/${set}`;
    const { status, body } = await this.cluster.admin.request('GET', path);
    return status === 200 ? (body['spec'] as { nets: readonly string[] }).nets : undefined;
  }

  /** The calls of a Pod's container "caller". */
  callsOf({ metadata: { namespace, name, uid }, spec: { nodeName = '' } }: Pod): Calls {
    const [file = ''] = globSync(join(this.node(nodeName).dir, `log/pods/${namespace}_${name}_${uid}/caller/0.log`));
    return new Calls(() => readFileSync(file, 'utf8'));
  }

  /** Whether the Pods of an app reach the other cluster, by their metrics, which Calico lets their nodes read. */
  async reaches(remote: string): Promise<readonly boolean[]> {
    const { namespace } = workloads['service-mirror'];
    const pods = (await this.pods(namespace, 'semaphore-service-mirror')).filter(
      ({ metadata }) => metadata.deletionTimestamp === undefined,
    );
    return Promise.all(
      pods.map(async ({ spec: { nodeName = '' }, status: { podIP } }) => {
        const metrics = await this.node(nodeName).run('curl', ['-sS', `http://${podIP}:8080/metrics`]);
        return metrics.includes(`semaphore_service_mirror_remote_up{remote="${remote}"} 1\n`);
      }),
    );
  }

  /** Stops the cluster with all of its nodes. Idempotent. */
  async stop(): Promise<void> {
    await this.#nodes.stop();
  }
}
