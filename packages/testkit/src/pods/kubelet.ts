import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { forward, type NetworkNode, type Place } from '@kube-semaphore/testnet';
import type { Bind } from '../containers/run.ts';
import { RunningContainer } from './container.ts';
import { expand, fieldsOf, type PodFacts, variablesOf } from './environment.ts';
import { bindsOf } from './mounts.ts';
import { type Container, containersOf, type PodSpec } from './pod-spec.ts';
import { RunningPod } from './running-pod.ts';
import type { Runtime } from './runtime.ts';
import { makeVolumes, withAccount } from './volumes.ts';

/** A node that runs Pods. */
export type KubeletOptions = {
  readonly cluster: TestCluster;
  /** The name of its Node. */
  readonly nodeName: string;
  readonly node: NetworkNode;
  readonly runtime: Runtime;
  /** Addresses that nobody else has, of a Pod that is to have a network of its own. */
  readonly nextIps: () => readonly string[];
  /** Ports of 127.0.0.1 out here that Pods find at their own: those of all API servers that they talk to. The node has them. */
  readonly apiPorts: readonly number[];
  /** Where Pods ask for names, if they are to ask the cluster. */
  readonly clusterDns?: string;
  /** A folder that is this node's. Whoever made it removes it. */
  readonly dir: string;
};

/** What a kubelet does with the Pods of its node, as far as our manifests ask for it. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #pods: RunningPod[] = [];
  readonly #servers: { close(): unknown }[] = [];

  constructor(options: KubeletOptions) {
    this.#options = options;
  }

  /** The name of its Node. */
  get nodeName(): string {
    return this.#options.nodeName;
  }

  /**
   * Creates a Pod and starts its containers; `ready()` waits for them.
   *
   * @param object without a status; its spec names this node
   */
  async run(object: KubeObject): Promise<RunningPod> {
    const namespace = object.metadata.namespace ?? 'default';
    return this.start(await this.#options.cluster.admin.create(`/api/v1/namespaces/${namespace}/pods`, object));
  }

  /**
   * Starts the containers of a Pod, in their order; `ready()` waits for them. What its volumes are made of is there.
   *
   * @param object as the API server has it
   */
  async start(object: KubeObject): Promise<RunningPod> {
    const { cluster, node } = this.#options;
    const spec = withAccount(object['spec'] as PodSpec);
    const { place, ips } =
      spec.hostNetwork === true ? { place: node, ips: [node.ipv4, node.ipv6] } : await this.addNetwork();
    const pod = new RunningPod({
      cluster,
      object,
      place,
      ips,
      containers: await this.#startContainers(object, spec, { place, ips }),
    });
    this.#pods.push(pod);
    return pod;
  }

  /** Makes the network of a Pod whose programs are started otherwise. */
  async addNetwork(): Promise<{ readonly place: Place; readonly ips: readonly string[] }> {
    const { node, nextIps, apiPorts } = this.#options;
    const ips = nextIps();
    const place = await node.addPod(ips);
    this.#servers.push(...(await Promise.all(apiPorts.map((port) => forward(place, port)))));
    return { place, ips };
  }

  /** Knows nothing of its Pods any more, as when the node is lost: whoever loses it calls this first. */
  abandon(): void {
    for (const pod of this.#pods.splice(0)) pod.abandon();
    for (const server of this.#servers.splice(0)) server.close();
  }

  /** Ends all Pods. @param graceMs see {@link RunningPod.stop} */
  async stop(graceMs = 5_000): Promise<void> {
    await Promise.all(this.#pods.splice(0).map((pod) => pod.stop(graceMs)));
    for (const server of this.#servers.splice(0)) server.close();
  }

  async #startContainers(
    object: KubeObject,
    spec: PodSpec,
    { place, ips }: { place: Place; ips: readonly string[] },
  ): Promise<ReadonlyMap<string, RunningContainer>> {
    const { cluster, node, nodeName, runtime, dir } = this.#options;
    const { name, namespace = 'default', uid = '' } = object.metadata;
    const { serviceAccountName = 'default' } = spec;
    const facts: PodFacts = {
      name,
      namespace,
      uid,
      nodeName,
      serviceAccountName,
      ips,
      hostIPs: [node.ipv4, node.ipv6],
    };
    const podDir = join(dir, 'pods', name);
    await mkdir(podDir, { recursive: true });
    const folders = await makeVolumes(spec.volumes ?? [], {
      cluster,
      pod: facts,
      dir: podDir,
      hostDir: join(dir, 'host'),
    });
    // Every Pod is told the address of the Service "kubernetes"; its API server is reached at this one.
    const { hostname: host, port } = new URL(cluster.url);
    const given = { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port };
    const dns = await this.#resolver(podDir, namespace);
    const containers = new Map<string, RunningContainer>();
    for (const container of containersOf(spec)) {
      const env = variablesOf(container, fieldsOf(facts), given);
      const commandLine = runtime({
        image: container.image,
        command: container.command?.map((word) => expand(word, env)),
        args: (container.args ?? []).map((word) => expand(word, env)),
        env,
        binds: [...dns, ...bindsOf(container, folders)],
        security: { ...spec.securityContext, ...container.securityContext },
        place,
        hostname: spec.hostNetwork === true ? undefined : name,
      });
      const running = new RunningContainer(commandLine);
      containers.set(container.name, running);
      await started(container, running);
    }
    return containers;
  }

  /** The file by which programs know whom to ask for names, as every Pod has it that asks the cluster. */
  async #resolver(podDir: string, namespace: string): Promise<readonly Bind[]> {
    const { clusterDns } = this.#options;
    if (clusterDns === undefined) return [];
    const source = join(podDir, 'resolv.conf');
    const domains = [`${namespace}.svc`, 'svc', ''].map((prefix) =>
      [prefix, 'cluster.local'].filter((part) => part !== '').join('.'),
    );
    await writeFile(source, `search ${domains.join(' ')}\nnameserver ${clusterDns}\noptions ndots:5\n`);
    return [{ source, target: '/etc/resolv.conf', readOnly: true }];
  }
}

/** Waits until a container has started, in the words of its startup probe: until then no other one is. */
async function started({ name, startupProbe }: Container, container: RunningContainer): Promise<void> {
  const [file, ...args] = startupProbe?.exec?.command ?? [];
  if (file === undefined) return;
  const answers = () =>
    container.exec(file, args).then(
      () => true,
      () => false,
    );
  await eventually(answers, true, { what: `${name} to start`, intervalMs: 100 }).catch((error: unknown) => {
    throw new Error(`${name} does not start:\n${container.output}`, { cause: error });
  });
}
