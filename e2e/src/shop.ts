import { eventually } from '@kube-semaphore/eventually';
import { shopPolicy } from './calico.ts';
import { SHOP, webBudget, webDeployment, webService } from './shop-manifests.ts';
import { isReady, type Pod, type Side } from './side.ts';

/** An app of a cluster with a Service. */
export class Shop {
  readonly #side: Side;
  #replicas: number;

  private constructor(side: Side, replicas: number) {
    this.#side = side;
    this.#replicas = replicas;
  }

  /** Deploys it on all nodes. Resolves when all Pods are ready. */
  static async start(side: Side, replicas: number): Promise<Shop> {
    await side.apply([shopPolicy, webDeployment(replicas), webBudget, webService]);
    const shop = new Shop(side, replicas);
    await shop.settled();
    return shop;
  }

  /** Its Pods, without those that end. */
  async pods(): Promise<readonly Pod[]> {
    return (await this.#side.pods(SHOP, 'web')).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** The Pod on a node. @throws {Error} if it has none */
  async podOn(node: string): Promise<Pod> {
    const pod = (await this.pods()).find(({ spec }) => spec.nodeName === node);
    if (pod === undefined) throw new Error(`${node} has no Pod of the shop`);
    return pod;
  }

  /** The addresses of its ready Pods, sorted. */
  async readyIps(): Promise<readonly string[]> {
    return (await this.pods())
      .filter(isReady)
      .map(({ status }) => status.podIP ?? '')
      .toSorted();
  }

  /** Updates all Pods, a new one before an old one. Resolves when the last old one has ended. */
  async rollOut(version: string): Promise<void> {
    await this.#side.kubectl(`-n ${SHOP} set env deployment/web VERSION=${version}`);
    await this.#side.endsRollout(SHOP, 'deployment/web');
    await this.settled();
  }

  /** Deletes one of its Pods. Resolves when another one is ready; the first one may still be ending. */
  async replaceOne(): Promise<void> {
    const [pod] = await this.pods();
    await this.#side.kubectl(`-n ${SHOP} delete pod ${pod?.metadata.name} --wait=false`);
    await this.#become(() => this.pods());
  }

  /** Resolves when so many Pods are ready. */
  async scale(replicas: number): Promise<void> {
    this.#replicas = replicas;
    await this.#side.kubectl(`-n ${SHOP} scale deployment/web --replicas=${replicas}`);
    await this.settled();
  }

  /** Resolves when all Pods are ready, and no Pod is ending. */
  async settled(): Promise<void> {
    await this.#become(() => this.#side.pods(SHOP, 'web'));
  }

  /** Resolves when these Pods are as many as wanted, all are ready, and none is ending. */
  async #become(pods: () => Promise<readonly Pod[]>): Promise<void> {
    await eventually(
      async () => (await pods()).map((pod) => isReady(pod) && !pod.metadata.deletionTimestamp),
      Array.from({ length: this.#replicas }, () => true),
      { what: `${this.#replicas} Pods of the shop`, intervalMs: 100 },
    );
  }
}
