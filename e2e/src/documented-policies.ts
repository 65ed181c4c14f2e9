import { eventually } from '@kube-semaphore/eventually';
import { documentedPolicies, remotePool } from './calico.ts';
import type { Calls, Tally } from './calls/calls.ts';
import { deployment, SHOP } from './shop-manifests.ts';
import { isReady, type Pod, podRanges, type Side } from './side.ts';
import type { System } from './system.ts';

/** The set of c2's Pods that the policies select. */
const SET = 'c2-shop-checkout';

/** So many calls in a row, of ten a second, show what a policy allows. */
const ENOUGH = 10;

/**
 * The policies of docs/policy.md in c1, for Pods of c2: checkout may call orders-db of c1, and frontend of c1 may call checkout.
 * The stranger in c2 tries to call orders-db, too.
 */
export class DocumentedPolicies {
  readonly #system: System;
  #checkout!: Pod;
  #stranger!: Pod;

  private constructor(system: System) {
    this.#system = system;
  }

  /** Deploys the Pods. Resolves when all calls are answered, as there is no policy yet. */
  static async start(system: System): Promise<DocumentedPolicies> {
    const { c1, c2 } = system;
    const policies = new DocumentedPolicies(system);
    await c1.addPrograms('orders');
    await c1.apply([deployment('orders', 'orders-db', { port: 5432 }), deployment(SHOP, 'frontend', { port: 8080 })]);
    const db = await policies.#podOf(c1, 'orders', 'orders-db');
    await policies.#podOf(c1, SHOP, 'frontend');
    const url = `http://${db.status.podIP}:5432/`;
    await c2.apply(['checkout', 'stranger'].map((name) => deployment(SHOP, name, { port: 8080, member: true, url })));
    policies.#checkout = await policies.#podOf(c2, SHOP, 'checkout');
    policies.#stranger = await policies.#podOf(c2, SHOP, 'stranger');
    await Promise.all([policies.#checkoutCalls, policies.#strangerCalls].map((calls) => calls.answered(ENOUGH)));
    return policies;
  }

  /** The calls to orders-db. */
  get #checkoutCalls(): Calls {
    return this.#system.c2.callsOf(this.#checkout);
  }

  get #strangerCalls(): Calls {
    return this.#system.c2.callsOf(this.#stranger);
  }

  /** Applies the policies. Resolves when checkout is admitted, and the stranger isn't. */
  async apply(): Promise<void> {
    await this.#system.c1.applyText(documentedPolicies());
    await this.#enforced();
  }

  async #enforced(): Promise<void> {
    await Promise.all([this.#checkoutCalls.answered(ENOUGH), this.#strangerCalls.refused(ENOUGH)]);
  }

  /** Whether frontend in c1 gets answers of checkout, and of the stranger. */
  async reached(): Promise<{ readonly checkout: boolean; readonly stranger: boolean }> {
    const ask = async ({ status }: Pod) => {
      const program = `fetch('http://${status.podIP}:8080', { signal: AbortSignal.timeout(2_000) }).then((answer) => answer.text())`;
      const exec = `exec -n ${SHOP} deployment/frontend -- /usr/local/bin/node --eval`;
      // Otherwise, a connection without an answer keeps the program running for ten seconds.
      const answer = `${program}.then(() => true, () => false).then((answer) => { console.log(answer); process.exit(); })`;
      return JSON.parse(await this.#system.c1.kubectl(`${exec} "${answer}"`)) as boolean;
    };
    const [checkout, stranger] = await Promise.all([ask(this.#checkout), ask(this.#stranger)]);
    return { checkout, stranger };
  }

  /**
   * Replaces the Pod of checkout. Resolves when the set has only the address of the new Pod, whose calls are answered.
   *
   * @returns how long the new Pod called until it got an answer, in ms
   */
  async rollOut(): Promise<{ readonly unansweredMs: number }> {
    const { c1, c2 } = this.#system;
    await c2.kubectl(`-n ${SHOP} rollout restart deployment/checkout`);
    await c2.endsRollout(SHOP, 'deployment/checkout');
    this.#checkout = await this.#podOf(c2, SHOP, 'checkout');
    await eventually(() => c1.netsOf(SET), [`${this.#checkout.status.podIP}/32`]);
    await this.#enforced();
    const calls = this.#checkoutCalls.all();
    const answers = calls.filter(({ by }) => by !== undefined).map(({ at, ms }) => at + ms);
    return { unansweredMs: Math.min(...answers) - calls[0]!.at };
  }

  /** Puts the stranger in place of checkout into the set. Resolves when checkout is admitted again, and the stranger isn't. */
  async editSet(): Promise<void> {
    const spec = JSON.stringify({ spec: { nets: [`${this.#stranger.status.podIP}/32`] } });
    await this.#system.c1.kubectl(`patch globalnetworksets.crd.projectcalico.org ${SET} --type=merge -p '${spec}'`);
    await this.#enforced();
  }

  /**
   * Removes the disabled pool for c1 from c2 until no call is answered.
   *
   * @returns the calls of checkout until they are answered again
   */
  losePool(): Promise<Tally> {
    const { c2 } = this.#system;
    return this.#checkoutCalls.during(async () => {
      await c2.kubectl('delete ippools.crd.projectcalico.org remote-c1');
      await this.#checkoutCalls.refused(ENOUGH);
      await c2.applyText(remotePool('c1', podRanges.c1));
      await this.#enforced();
    });
  }

  /** The calls of both during a change. */
  async during(change: () => Promise<unknown>): Promise<{ readonly checkout: Tally; readonly stranger: Tally }> {
    const done = change();
    const [checkout, stranger] = await Promise.all([
      this.#checkoutCalls.during(() => done),
      this.#strangerCalls.during(() => done),
    ]);
    return { checkout, stranger };
  }

  /** The only Pod of an app, when it is ready. */
  async #podOf(side: Side, namespace: string, app: string): Promise<Pod> {
    const [pod] = await eventually(
      () => side.pods(namespace, app),
      (pods) => pods.length === 1 && pods.every(isReady),
      { what: `one Pod of ${app}` },
    );
    return pod!;
  }
}
