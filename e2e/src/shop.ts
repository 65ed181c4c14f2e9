import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { type RunningPod, runWorkload } from '@kube-semaphore/testkit';
import { SHOP, webDeployment, webService } from './shop-manifests.ts';
import type { Side, SystemNode } from './side.ts';

/** An app of a cluster with a Service, and the work of its Deployment's controllers. */
export class Shop {
  readonly #side: Side;
  readonly #deployment: KubeObject;
  #pods: readonly RunningPod[] = [];

  private constructor(side: Side, deployment: KubeObject) {
    this.#side = side;
    this.#deployment = deployment;
  }

  /** Starts its Pods on alternating nodes. Resolves when all are ready. */
  static async start(side: Side, replicas: number): Promise<Shop> {
    const deployment = await side.cluster.admin.create(
      `/apis/apps/v1/namespaces/${SHOP}/deployments`,
      webDeployment(replicas),
    );
    await side.cluster.admin.create(`/api/v1/namespaces/${SHOP}/services`, webService);
    const shop = new Shop(side, { ...deployment, apiVersion: 'apps/v1', kind: 'Deployment' });
    shop.#pods = await shop.#run(side.nodes, 'v1');
    return shop;
  }

  get pods(): readonly RunningPod[] {
    return this.#pods;
  }

  /**
   * A rolling update with `maxSurge` 1 and `maxUnavailable` 0: a new Pod is ready before an old one is deleted. Resolves when
   * the last old Pod has ended.
   */
  async rollOut(version: string): Promise<void> {
    const [old, ends] = [this.#pods, [] as Promise<void>[]];
    this.#pods = [];
    for (const [index, pod] of old.entries()) {
      const [next] = await this.#run([this.#nodeFor(index)], `${version}-${index}`, 1);
      if (next !== undefined) this.#pods = [...this.#pods, next];
      ends.push(pod.delete());
    }
    await Promise.all(ends);
  }

  /** Adds a Pod on a node, and resolves when it is ready. */
  async grow(node: SystemNode): Promise<RunningPod> {
    const [pod] = await this.#run([node], `on-${node.name}`, 1);
    if (pod === undefined) throw new Error('no Pod was started');
    this.#pods = [...this.#pods, pod];
    return pod;
  }

  /** Forgets a Pod. @returns the other Pods */
  forget(lost: RunningPod): readonly RunningPod[] {
    this.#pods = this.#pods.filter((pod) => pod !== lost);
    return this.#pods;
  }

  async #run(nodes: readonly SystemNode[], revision: string, replicas?: number): Promise<readonly RunningPod[]> {
    const kubelets = nodes.map(({ kubelet }) => kubelet);
    const pods = await runWorkload(this.#deployment, kubelets, {
      revision,
      ...(replicas !== undefined && { replicas }),
    });
    await Promise.all(pods.map((pod) => pod.ready()));
    return pods;
  }

  #nodeFor(index: number): SystemNode {
    const { nodes } = this.#side;
    const node = nodes[index % nodes.length];
    if (node === undefined) throw new Error(`${this.#side.name} has no node`);
    return node;
  }
}
