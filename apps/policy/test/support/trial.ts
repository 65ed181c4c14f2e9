import { eventually, type TestCluster } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { netOf, type PodChanges, staying, wantedSets } from './pod-changes.ts';
import type { PolicyProcess } from './policy-process.ts';
import { isUp } from './remote-state.ts';
import type { SetHistory } from './set-history.ts';
import type { Sets } from './sets.ts';

/** Longer than the longest pause between two attempts (30 s), for which nobody is to blame after a long storm. */
const RECOVERY_MS = 45_000;
/** How many pods change while something goes wrong, and once more when it is over. */
const CHANGES = { during: 10, after: 5 };

export type TrialOptions = {
  readonly policy: PolicyProcess;
  readonly remote: TestCluster;
  readonly changes: PodChanges;
  readonly sets: Sets;
  readonly history: SetHistory;
};

/** A policy that is going through something while pods come and go, and what must hold of it whatever that is. */
export class Trial {
  readonly policy: PolicyProcess;
  readonly #options: TrialOptions;

  constructor(options: TrialOptions) {
    this.policy = options.policy;
    this.#options = options;
  }

  /** Changes some pods. */
  changePods(): Promise<void> {
    return this.changePodsDuring(Promise.resolve());
  }

  /** Changes pods until `work` is done, and some more if that was soon. */
  async changePodsDuring(work: Promise<unknown>): Promise<void> {
    let isOver = false;
    const changing = this.#options.changes.make({ least: CHANGES.during, isOver: () => isOver });
    await Promise.all([changing, work.finally(() => (isOver = true))]);
  }

  /** Changes pods until `condition` holds. The process is live all the time. */
  async changePodsUntil(condition: () => Promise<boolean> | boolean): Promise<void> {
    const met = eventually(
      async () => {
        await this.#expectLive();
        return condition();
      },
      true,
      { timeoutMs: RECOVERY_MS },
    );
    await this.changePodsDuring(met);
  }

  /** Waits until the sets are what the pods of now say, in everything but the order of nets. */
  async settled(): Promise<void> {
    const { remote, sets } = this.#options;
    const wanted = await wantedSets(remote);
    const observed = async () => (await sets.list()).map((set) => ({ ...set, nets: set.nets.toSorted() }));
    await eventually(observed, wanted, { timeoutMs: RECOVERY_MS });
  }

  /**
   * It is over: everything is right, also what changes from now on; nothing was deleted, and no address missing, that
   * had a pod all along; the process is the one that was started, and sees both clusters.
   */
  async survived(): Promise<void> {
    const { policy, changes, history } = this.#options;
    await this.settled();
    await changes.make({ least: CHANGES.after, isOver: () => true });
    await this.settled();
    await history.caughtUp();
    const wrongly = staying.map(({ app, ips }) => ({
      deletions: history.deletions().filter((name) => name === `c2-default-${app}`),
      lapses: history.lapses(app, ips.map(netOf)),
    }));
    expect(wrongly).toEqual(staying.map(() => ({ deletions: [], lapses: [] })));
    await this.#expectLive();
    expect(policy.log().filter(({ level }) => level === 'error')).toEqual([]);
    await eventually(async () => [await isUp(policy), await isUp(policy, 'local')], [1, 1], { timeoutMs: RECOVERY_MS });
  }

  async #expectLive(): Promise<void> {
    expect(await this.policy.get('/healthz')).toMatchObject({ status: 200 });
  }
}
