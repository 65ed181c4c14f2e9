import { eventually } from '@kube-semaphore/eventually';
import type { RunningPod } from '@kube-semaphore/testkit';
import type { Calls, Tally } from './calls.ts';
import { watchDestinations } from './destinations.ts';
import type { Shop } from './shop.ts';
import type { SystemNode } from './side.ts';
import { type System, WEB_URL } from './system.ts';

/** The answer of c2's app to a call. */
export type Answer = { readonly by: string; readonly seen: string; readonly said?: string };

/** Calls work after so many answers in a row: two seconds of them. */
const WELL = 40;

/** An app of c2 with a constant stream of calls from c1. Each scenario returns the results of the calls. */
export class Scenarios {
  readonly system: System;
  readonly shop: Shop;
  readonly caller: RunningPod;
  readonly calls: Calls;

  private constructor(system: System, shop: Shop, { caller, calls }: { caller: RunningPod; calls: Calls }) {
    this.system = system;
    this.shop = shop;
    this.caller = caller;
    this.calls = calls;
  }

  /** Deploys the app and its caller. Resolves when calls are answered. */
  static async start(system: System): Promise<Scenarios> {
    const shop = await system.openShop();
    const scenarios = new Scenarios(system, shop, await system.startCaller());
    await scenarios.calls.answered(WELL);
    return scenarios;
  }

  /** Calls the app with curl, from the Pod in c1. @param said the text that the app returns */
  async curl(said: string): Promise<Answer> {
    const args = ['--silent', '--show-error', '--fail', '--max-time', '5', '--header', `x-said: ${said}`, WEB_URL];
    return JSON.parse(await this.caller.container('caller').exec('curl', args)) as Answer;
  }

  /** Updates the app, Pod by Pod. */
  rollOut(version: string): Promise<Tally> {
    return this.calls.during(async () => {
      await this.shop.rollOut(version);
      await this.system.mirrored(this.shop.pods);
    });
  }

  /** Adds a node to c2, and a Pod of the app on it, which answers at the end. */
  async addNode(): Promise<Tally & { readonly node: SystemNode; readonly pod: RunningPod }> {
    const { c2 } = this.system;
    const node = await c2.addNode();
    const added = Promise.withResolvers<RunningPod>();
    const tally = await this.calls.during(async () => {
      await c2.startAgent(node);
      const pod = await this.shop.grow(node);
      await this.calls.one('an answer from the new node', ({ by }) => by === pod.name);
      added.resolve(pod);
    });
    return { ...tally, node, pod: await added.promise };
  }

  /**
   * Unplugs a node with a Pod of the app. After the first failed call, marks the Pod unready in c2, as Kubernetes' controller
   * does after 40 s or more.
   *
   * @returns the results, and the destinations of failed calls
   */
  async loseNode({
    node,
    pod,
  }: {
    readonly node: SystemNode;
    readonly pod: RunningPod;
  }): Promise<Tally & { readonly ledTo: ReadonlySet<string | undefined> }> {
    const { c1, c2 } = this.system;
    const caller = c1.nodes[0]?.machine;
    if (caller === undefined) throw new Error('c1 has no node');
    const destinations = await watchDestinations(caller, 'wireguard.c2');
    const tally = await this.calls.during(async () => {
      await c2.loseNode(node);
      await this.calls.one('a call that fails', ({ error }) => error !== undefined);
      await pod.unready();
      await this.system.mirrored(this.shop.forget(pod));
      await this.calls.answered(WELL);
    });
    const ledTo = new Set(tally.failed.map(({ port }) => destinations.of(port)));
    await destinations.stop();
    return { ...tally, ledTo };
  }

  /**
   * Stops the API server of c2 for at least `downMs`, and until c1 notices. At the end c1 reaches c2 again.
   *
   * @param downMs time between the stop and the start
   */
  loseApiserver(downMs: number): Promise<Tally> {
    const { c1, c2 } = this.system;
    const mirrors = c1.podsOf('semaphore-service-mirror');
    const allSee = (value: 0 | 1) => Promise.all(mirrors.map((mirror) => sees(mirror, value)));
    return this.calls.during(async () => {
      const startMs = performance.now();
      await c2.cluster.stopApiserver();
      await allSee(0);
      await eventually(() => performance.now() - startMs >= downMs, true, {
        what: 'the outage to be long enough',
        timeoutMs: downMs + 1_000,
      });
      await c2.cluster.restart();
      await allSee(1);
      await this.calls.answered(WELL);
    });
  }
}

/** Waits until a service mirror reports whether it reaches c2. */
async function sees(mirror: RunningPod, value: 0 | 1): Promise<void> {
  const line = `semaphore_service_mirror_remote_up{remote="c2"} ${value}\n`;
  await eventually(async () => (await mirror.get(8080, '/metrics')).body.includes(line), true, {
    what: `${mirror.name}: ${line}`,
    timeoutMs: 60_000,
    intervalMs: 200,
  });
}
