import { type Profiler, Session } from 'node:inspector';

/** Programs that read foreign input, with their parser of YAML: nothing of the test. */
const UNDER_TEST =
  /^file:(?!.*(\/packages\/(testkit|fault-proxy|embedded-apiserver)\/|\.test\.ts$)).*\/(src|node_modules\/yaml)\//;

/** How often each character of a script ran, and where that changes. */
type ScriptCounts = { readonly counts: Uint32Array; readonly starts: readonly number[] };
export type Counts = ReadonlyMap<string, ScriptCounts>;

/**
 * V8's own counters of blocks, so nothing is instrumented. A function that was compiled before is counted as a whole only: make this
 * before the code under test is called, and once for all of its functions.
 *
 * jazzer.js counts for each single input, but a script builds its native part when it is installed, and we forbid those.
 */
export class BlockCounters {
  readonly #session = new Session();
  readonly #isUnderTest: (url: string) => boolean;
  #isStopped = false;

  constructor(isUnderTest = (url: string): boolean => UNDER_TEST.test(url)) {
    this.#isUnderTest = isUnderTest;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** What ran since the last call, which takes 1 to 3 ms. */
  take(): Counts {
    if (this.#isStopped) throw new Error('nothing is counted any more: read one parser in a process, chosen by -t');
    const taken = new Map<string, ScriptCounts>();
    // A session with its own thread calls back before this returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, answer) => {
      if (error !== null) throw error;
      for (const script of answer.result) if (this.#isUnderTest(script.url)) taken.set(script.url, countsOf(script));
    });
    return taken;
  }

  /** Code is fast again, and no block is counted any more. */
  stop(): void {
    this.#isStopped = true;
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }
}

function countsOf({ functions }: Profiler.ScriptCoverage): ScriptCounts {
  const ranges = functions.flatMap((one) => one.ranges);
  const counts = new Uint32Array(ranges.reduce((most, { endOffset }) => Math.max(most, endOffset), 0));
  // Inner ranges follow outer ones.
  for (const { startOffset, endOffset, count } of ranges) counts.fill(count, startOffset, endOffset);
  return { counts, starts: ranges.flatMap(({ startOffset, endOffset }) => [startOffset, endOffset]) };
}

/** What ran so far. */
export class Reached {
  /** For each character of a script, the {@link level} that it had at most. */
  readonly #levels = new Map<string, Uint8Array>();
  /** Where blocks start, as far as they are known by different counts. */
  readonly #starts = new Map<string, Set<number>>();

  /** Whether a block ran that never did, or with one input, twice as often as with any other. */
  isNew(taken: Counts, ofOne: boolean): boolean {
    return Array.from(taken).some(([url, { counts, starts }]) => {
      const levels = this.#levels.get(url);
      const isHigher = (at: number): boolean => level(counts[at] ?? 0, ofOne) > (levels?.[at] ?? 0);
      // Blocks that ran equally often have one range.
      return starts.some(isHigher) || Array.from(this.#starts.get(url) ?? []).some(isHigher);
    });
  }

  add(taken: Counts, ofOne: boolean): void {
    for (const [url, { counts, starts }] of taken) {
      const known = this.#levels.get(url) ?? new Uint8Array();
      const levels = new Uint8Array(Math.max(known.length, counts.length));
      levels.set(known);
      for (let at = 0, now = 0; at < counts.length; at++) {
        if (counts[at] !== counts[at - 1]) now = level(counts[at]!, ofOne);
        if (now > levels[at]!) levels[at] = now;
      }
      this.#levels.set(url, levels);
      this.#starts.set(url, new Set([...(this.#starts.get(url) ?? []), ...starts]));
    }
  }

  /** How many of the known blocks ran. */
  blocksIn(counts: Counts): number {
    return this.#count((url, at) => (counts.get(url)?.counts[at] ?? 0) > 0);
  }

  /** How many blocks ever ran. */
  get blocks(): number {
    return this.#count((url, at) => (this.#levels.get(url)?.[at] ?? 0) > 0);
  }

  #count(isOne: (url: string, at: number) => boolean): number {
    return Array.from(this.#starts, ([url, starts]) => Array.from(starts).filter((at) => isOne(url, at)).length).reduce(
      (sum, one) => sum + one,
      0,
    );
  }
}

/** 0 for never, 1 for once, and one more for each doubling. What many inputs ran says only whether a block runs. */
const level = (count: number, ofOne: boolean): number => (ofOne ? 32 - Math.clz32(count) : Math.min(count, 1));
