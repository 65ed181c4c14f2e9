import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { play } from '@kube-semaphore/fault-proxy';
import { type Program, useUpVersions } from '@kube-semaphore/testkit';
import { endingOf } from './ending.ts';
import { kindOf, type Step } from './script.ts';
import { remotes as allRemotes, type Settings } from './subject.ts';
import { make, type World, WrongRequest } from './world.ts';

/** More than a cluster writes before the app, which may be stopped, sees that its etcd was restored. */
const LOST_VERSIONS = 200;

/** The programs that run, and what goes wrong at the moment. */
export class Stage {
  readonly world: World;
  /** What was made, by kind. */
  readonly counts = new Map<string, number>();
  /** A replica that ended by itself. */
  readonly deaths: string[] = [];
  remotes: readonly string[] = allRemotes;
  settings: Settings;
  readonly #programs: Program[] = [];
  /** What lasts for a while, by what it concerns. */
  readonly #lasting = new Map<string, Promise<void>>();
  #calm = new AbortController();
  /** Remotes that weren't in the file at some time, since this was taken. */
  #left = new Set<string>();
  /** Of replicas that ended, since these were taken. */
  #logs: string[] = [];
  /** What they logged, and never should have, since this was taken. */
  #errors: string[] = [];
  /** What a program needs at its start was broken: it says so, and ends, until it is started again. */
  #mayEnd = false;
  /** The heaps of replicas that lack memory. */
  readonly #heapMb = new Map<number, number>();
  #isOver = false;

  private constructor(world: World) {
    this.world = world;
    [this.settings] = world.subject.settings;
  }

  static async start(world: World): Promise<Stage> {
    const stage = new Stage(world);
    await world.setConfig(stage.remotes, stage.settings);
    for (const replica of world.accounts.keys()) stage.#spawn(replica);
    return stage;
  }

  /** The replicas that run now. */
  get programs(): readonly Program[] {
    return this.#programs;
  }

  /** When it is quiet. */
  takeLeft(): ReadonlySet<string> {
    const left = this.#left;
    this.#left = new Set(allRemotes.filter((each) => !this.remotes.includes(each)));
    this.#mayEnd = false;
    return left;
  }

  takeLogs(): readonly string[] {
    return this.#logs.splice(0);
  }

  takeErrors(): readonly string[] {
    return this.#errors.splice(0);
  }

  /** Does what a step says, and returns when the next one is due. */
  async perform(step: Step): Promise<void> {
    const made = await this.#begin(step);
    const kind = made ? kindOf(step, this.world.subject) : 'not made, as that is down or broken already';
    this.#count(kind);
    await delay(step.thenMs);
  }

  #count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** Ends all faults, starts what is down, and wakes what is stopped. */
  async calm(): Promise<void> {
    this.#calm.abort();
    await Promise.all(this.#lasting.values());
    this.#calm = new AbortController();
  }

  async stop(): Promise<void> {
    await this.calm();
    this.#isOver = true;
    await Promise.all(this.#programs.map((program) => end(program)));
  }

  /** @returns false if it can't be made now */
  async #begin(step: Step): Promise<boolean> {
    const { subject, clusters, proxies, tokens, clocks, setConfig, site } = this.world;
    switch (step.do) {
      case 'change':
        return succeeds(() => make(clusters, step.change));
      case 'tamper':
        return succeeds(() => site.tamper(step.nth, step.how));
      case 'remotes':
        this.remotes = step.remotes;
        for (const each of allRemotes) if (!step.remotes.includes(each)) this.#left.add(each);
        await setConfig(this.remotes, this.settings);
        return true;
      case 'settings': {
        const needStart = !isDeepStrictEqual(step.settings.rest, this.settings.rest);
        this.settings = step.settings;
        await setConfig(this.remotes, this.settings);
        if (needStart) await Promise.all(this.#programs.map(end));
        return true;
      }
      case 'fault':
        return this.#last(`proxy ${step.cluster}`, async (signal) => {
          await play(proxies[step.cluster], [step.step], { signal });
        });
      case 'kill':
        return this.#lastOf(step.replica, async (replica) => {
          await end(this.#programs[replica]!);
        });
      case 'freeze':
        return this.#lastOf(step.replica, async (replica) => {
          const program = this.#programs[replica]!;
          program.signal('SIGSTOP');
          await delay(step.ms);
          program.signal('SIGCONT');
        });
      case 'down':
        return this.#last(`cluster ${step.cluster}`, async (signal) => {
          await clusters[step.cluster].stopApiserver();
          await pause(step.ms, signal);
          await clusters[step.cluster].restart();
        });
      case 'restore': {
        const { promise: prepared, resolve } = Promise.withResolvers<void>();
        const made = await this.#last(`cluster ${step.cluster}`, async (signal) => {
          const snapshot = await clusters[step.cluster].snapshotEtcd();
          // A history that is soon as long as the lost one is taken for it, by every client of Kubernetes.
          await useUpVersions(clusters[step.cluster], LOST_VERSIONS);
          resolve();
          await pause(step.ms, signal);
          await clusters[step.cluster].restoreEtcd(snapshot);
        });
        if (made) await prepared;
        return made;
      }
      case 'break':
        return this.#last('site', async (signal) => {
          if (subject.endsBy?.breaks.includes(step.what) === true) this.#mayEnd = true;
          const mend = await site.break(step.what);
          await pause(step.ms, signal);
          await mend();
        });
      case 'ca':
        return this.#last(`CA ${step.cluster}`, async (signal) => {
          const proxy = proxies[step.cluster];
          if (step.known === 'before') {
            await proxy.announceCa();
            await pause(step.ms, signal);
          }
          await proxy.changeCa();
          if (step.known === 'after') await pause(step.ms, signal);
          await proxy.removeOldCa();
        });
      case 'clock':
        await clocks[step.replica % clocks.length]!.set(step.byMs);
        return true;
      case 'starve':
        return this.#lastOf(step.replica, async (replica, signal) => {
          this.#heapMb.set(replica, step.heapMb);
          await end(this.#programs[replica]!);
          await pause(step.ms, signal);
          this.#heapMb.delete(replica);
          await end(this.#programs[replica]!);
        });
      case 'token':
        // As of the cluster: it must be up to issue the new one.
        return this.#last(`cluster ${step.cluster}`, async (signal) => {
          await tokens[step.cluster].revoke();
          await pause(step.ms, signal);
          await tokens[step.cluster].renew();
        });
    }
  }

  async #last(what: string, work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    if (this.#lasting.has(what)) return false;
    const { signal } = this.#calm;
    this.#lasting.set(
      what,
      work(signal).finally(() => this.#lasting.delete(what)),
    );
    return true;
  }

  /** A script is for two replicas; if there is one, it is both. */
  #lastOf(nth: number, work: (replica: number, signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const replica = nth % this.#programs.length;
    return this.#last(`replica ${replica}`, (signal) => work(replica, signal));
  }

  #spawn(replica: number): void {
    const heapMb = this.#heapMb.get(replica);
    const program = this.world.spawn(replica, heapMb);
    this.#programs[replica] = program;
    void program.exited.then(({ code, signal }) => {
      const stderr = program.stderr();
      this.#logs.push(stderr);
      if (this.#isOver) return;
      const excuse = this.#mayEnd ? this.world.subject.endsBy?.says : undefined;
      const { why, errors } = endingOf({ code, signal, stderr, starved: heapMb !== undefined, excuse });
      this.#errors.push(...errors.map((line) => `replica ${replica} logged ${line}, and ended`));
      if (why === 'by itself') {
        this.deaths.push(`replica ${replica} ended: ${signal ?? `code ${code}`}\n${stderr.slice(-2_000)}`);
        return;
      }
      if (why === 'lacked memory') this.#count('replica ended, as it lacked memory');
      if (why === 'lacked what it needs') this.#count('replica ended, as what it needs was broken');
      this.#spawn(replica);
    });
  }
}

const end = async (program: Program): Promise<void> => void (await program.stop('SIGKILL'));

/** A change of a cluster that is down is left: a script can't know. One that is always refused is a mistake of the script. */
async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof WrongRequest) throw error;
    return false;
  }
}

/** Ends early, without an error, if the signal aborts. */
const pause = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal }).catch(() => {});
