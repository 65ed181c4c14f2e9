import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { RealNode } from '@kube-semaphore/real-nodes';
import type { Calls, Tally } from './calls/calls.ts';
import { watchDestinations } from './calls/destinations.ts';
import { type App, handOver } from './manifests.ts';
import { SHOP } from './shop-manifests.ts';
import type { Shop } from './shop.ts';
import type { Pod } from './side.ts';
import { type Caller, type System, WEB_URL } from './system.ts';

/** The answer of c2's app to a call. */
export type Answer = { readonly by: string; readonly seen: string; readonly said?: string };

/** Calls work after so many answers in a row: a second of them. The calls of the next scenario follow at once. */
const WELL = 20;

/** A program of one call: the URL and a text follow as arguments. */
const ASK = `const [url, said] = process.argv.slice(1);
fetch(url, { headers: { 'x-said': said }, signal: AbortSignal.timeout(60_000) }).then((answer) => answer.text()).then(console.log)`;

/** An app of c2 with a constant stream of calls from c1. Each scenario returns the results of the calls. */
export class Scenarios {
  readonly system: System;
  readonly shop: Shop;
  readonly caller: Caller;
  readonly calls: Calls;
  readonly #destinations: () => ReadonlyMap<number, string>;

  private constructor(system: System, shop: Shop, caller: Caller, destinations: () => ReadonlyMap<number, string>) {
    this.system = system;
    this.shop = shop;
    this.caller = caller;
    this.calls = caller.calls;
    this.#destinations = destinations;
  }

  /** Deploys the app and its caller. Resolves when calls are answered. @param callTimeoutMs as of {@link System.startCaller} */
  static async start(system: System, callTimeoutMs?: number): Promise<Scenarios> {
    const shop = await system.openShop();
    const caller = await system.startCaller(callTimeoutMs);
    const scenarios = new Scenarios(system, shop, caller, await watchDestinations(caller.node.machine));
    await scenarios.calls.answered(WELL);
    return scenarios;
  }

  /** Calls the app once, from the Pod in c1. @param said the text that the app returns */
  async ask(said: string): Promise<Answer> {
    const node = `exec -n ${SHOP} checkout-0 -- /usr/local/bin/node --eval`;
    return JSON.parse(await this.system.c1.kubectl(`${node} "${ASK}" ${WEB_URL} '${said}'`)) as Answer;
  }

  /** Updates the app, Pod by Pod. */
  rollOut(version: string): Promise<Tally> {
    return this.#during(() => this.shop.rollOut(version));
  }

  /** Adds a node to c2, and a Pod of the app on it, which answers at the end. */
  async addNode(): Promise<Tally & { readonly node: RealNode; readonly pod: Pod }> {
    const { c2 } = this.system;
    const added = Promise.withResolvers<{ readonly node: RealNode; readonly pod: Pod }>();
    const tally = await this.#during(async () => {
      const node = await c2.addNode();
      await this.shop.scale(4);
      const pod = await this.shop.podOn(node.name);
      await this.calls.one('an answer from the new node', ({ by }) => by === pod.metadata.name);
      added.resolve({ node, pod });
    });
    return { ...tally, ...(await added.promise) };
  }

  /** Unplugs a node of c2. Resolves when calls are answered again, as Kubernetes has noticed. */
  loseNode(node: RealNode): Promise<Tally> {
    return this.#during(async () => {
      await node.unplug(this.system.network.underlay);
      await eventually(() => node.isReady(), false, { what: `the loss of ${node.name}` });
    });
  }

  /** Starts a lost node of c2 again. Resolves when the app's Pod on it answers. */
  returnNode(node: RealNode): Promise<Tally> {
    return this.#during(async () => {
      await node.plugIn(this.system.network.underlay);
      await node.ready();
      await this.system.c2.rolledOut('wireguard');
      await this.shop.settled();
      const { metadata } = await this.shop.podOn(node.name);
      await this.calls.one('an answer from the node', ({ by }) => by === metadata.name);
    });
  }

  /** Drains the node of c1 where service-mirror leads. */
  drainLeader(): Promise<Tally> {
    const { c1 } = this.system;
    return this.#during(async () => {
      const node = await eventually(() => c1.mirrorLeader(), isDefined, { what: 'a leader' });
      await c1.drain(node);
      const isOther = (leading: RealNode | undefined) => leading !== undefined && leading !== node;
      await eventually(() => c1.mirrorLeader(), isOther, { what: 'a leader elsewhere' });
      await c1.uncordon(node);
    });
  }

  /** Drains the first node of c2 with Pods of the app; another one each time, as they leave it. */
  drainApp(): Promise<Tally> {
    const { c2 } = this.system;
    return this.#during(async () => {
      const [name = ''] = (await this.shop.pods()).flatMap(({ spec }) => spec.nodeName ?? []).toSorted();
      const node = c2.node(name);
      await c2.drain(node);
      await this.shop.settled();
      await c2.uncordon(node);
    });
  }

  /** Kills the kubelet of the caller's node, and one of a node with Pods of the app. Both start again. */
  restartKubelets(): Promise<Tally> {
    const { c1, c2 } = this.system;
    return this.#during(async () => {
      await Promise.all([c1.restartKubelet(this.caller.node), c2.restartKubelet(c2.node('c2-n1'))]);
      await this.shop.settled();
    });
  }

  /** Updates an app of kube-semaphore to another image, in both clusters. */
  upgrade(app: App): Promise<Tally> {
    const { c1, c2 } = this.system;
    return this.#during(() => Promise.all([c1.upgrade(app), c2.upgrade(app)]));
  }

  /** Kills and starts API server and etcd of both clusters, one after the other. Then a Pod of the app is replaced. */
  restartControlPlanes(): Promise<Tally> {
    const { c1, c2 } = this.system;
    return this.#during(async () => {
      for (const { cluster } of [c1, c2]) {
        // The controllers start again, too. Otherwise, those of a slow machine would take the restart for a loss of all nodes.
        await cluster.stopApiserver();
        await cluster.restart();
        await cluster.restartEtcd();
      }
      await this.shop.replaceOne();
    });
  }

  /** Gives c2 another CA, and removes the old one, as docs/operations.md says. Then a Pod of the app is replaced. */
  changeCa(): Promise<Tally> {
    const { c1, c2 } = this.system;
    return this.#during(async () => {
      await c2.changeCa(() => handOver(c1.cluster, c2.cluster));
      await this.#mirrorsReach(true);
      await this.shop.replaceOne();
    });
  }

  /**
   * Stops the API server of c2 for at least `downMs`, and until c1 notices. At the end c1 reaches c2 again.
   *
   * @param downMs time between the stop and the start
   */
  loseApiserver(downMs: number): Promise<Tally> {
    const { c2 } = this.system;
    return this.#during(async () => {
      const startMs = performance.now();
      await c2.cluster.stopApiserver();
      await this.#mirrorsReach(false);
      await eventually(() => performance.now() - startMs >= downMs, true, {
        what: 'the outage to be long enough',
      });
      await c2.cluster.restart();
      await this.#mirrorsReach(true);
    });
  }

  /** Waits until each service mirror of c1 reports whether it reaches c2. */
  async #mirrorsReach(wanted: boolean): Promise<void> {
    const { c1 } = this.system;
    await eventually(
      () => c1.reaches('c2'),
      (all) => all.every((each) => each === wanted),
      { what: `remote_up ${Number(wanted)}`, intervalMs: 500 },
    );
  }

  /** The calls during a change, until the mirror is right and calls are answered. */
  async #during(change: () => Promise<unknown>): Promise<Tally> {
    const tally = await this.calls.during(async () => {
      await change();
      await this.system.mirrored(this.shop);
      await this.calls.answered(WELL);
    });
    const destinations = this.#destinations();
    return { ...tally, failed: tally.failed.map((call) => ({ ...call, to: destinations.get(call.port) })) };
  }
}
