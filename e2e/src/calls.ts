import { eventually, isDefined } from '@kube-semaphore/eventually';

/** One call, as the program that made it tells. */
export type Call = {
  /** Its number, from 0. */
  readonly n: number;
  /** When it began, by the clock of this machine, in ms. */
  readonly at: number;
  readonly ms: number;
  /** The port that it came from. */
  readonly port: number;
  /** The Pod that answered, and the address by which that one knows the caller. */
  readonly by?: string;
  readonly seen?: string;
  /** Why there was no answer. */
  readonly error?: string;
};

/** What came of the calls that began in a window of time. */
export type Tally = { readonly calls: readonly Call[]; readonly failed: readonly Call[]; readonly ms: number };

/** So many calls say something about what went on meanwhile: two seconds of them. */
const ENOUGH = 40;

const isAnswered = ({ by }: Call): boolean => by !== undefined;

/** A stream of calls, read from what the caller prints. */
export class Calls {
  readonly #read: () => string;

  /** @param read everything that was printed so far */
  constructor(read: () => string) {
    this.#read = read;
  }

  /** Those that have ended, by their numbers. */
  all(): readonly Call[] {
    const text = this.#read();
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    const calls = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Call);
    return calls.toSorted((a, b) => a.n - b.n);
  }

  /** Waits until so many calls in a row that begin from now on are answered. */
  async answered(count: number, timeoutMs = 30_000): Promise<void> {
    const from = Date.now();
    await eventually(
      () =>
        endsWell(
          this.all().filter(({ at }) => at >= from),
          count,
        ),
      true,
      { what: `${count} answers in a row`, timeoutMs },
    );
  }

  /** Waits until a call that begins from now on ends like this. */
  async one(what: string, matches: (call: Call) => boolean, timeoutMs = 30_000): Promise<Call> {
    const from = Date.now();
    return eventually(() => this.all().find((call) => call.at >= from && matches(call)), isDefined, {
      what,
      timeoutMs,
    });
  }

  /** What came of the calls that began during a change, or after it until there were enough. Waits for the last of them. */
  async during(change: () => Promise<unknown>): Promise<Tally> {
    const startMs = Date.now();
    await change();
    const endMs = Date.now();
    const window = () => windowOf(this.all(), { startMs, endMs, least: ENOUGH });
    return eventually(window, isDefined, { what: 'the end of enough calls' });
  }
}

/** Whether so many calls at the end were answered, without one between them that wasn't, or is still under way. */
export function endsWell(calls: readonly Call[], count: number): boolean {
  const last = calls.slice(-count);
  const [first, latest] = [last[0], last.at(-1)];
  return (
    last.length === count &&
    last.every(isAnswered) &&
    first !== undefined &&
    latest !== undefined &&
    latest.n - first.n === count - 1
  );
}

/**
 * What came of the calls that began from `startMs` until `endMs`, or later if they were fewer than `least`.
 *
 * @param calls those that have ended, by their numbers
 * @returns undefined as long as one of them, or the first call after them, has not ended
 */
export function windowOf(
  calls: readonly Call[],
  { startMs, endMs, least }: { readonly startMs: number; readonly endMs: number; readonly least: number },
): Tally | undefined {
  const first = calls.findIndex(({ at }) => at >= startMs);
  const next = calls.findIndex(({ at }, index) => first !== -1 && index >= first + least && at >= endMs);
  const after = calls[next];
  // The number of a call is its index, unless an earlier one is under way.
  if (after?.n !== next) return undefined;
  const those = calls.slice(first, next);
  return { calls: those, failed: those.filter((call) => !isAnswered(call)), ms: after.at - startMs };
}
