import { eventually, isDefined } from '@kube-semaphore/eventually';

/** One call, as its caller printed it. */
export type Call = {
  /** Its number, from 0. */
  readonly n: number;
  /** When it began, in ms, by this machine's clock. */
  readonly at: number;
  readonly ms: number;
  /** Its source port. */
  readonly port: number;
  /** The Pod that answered, and the caller's address as that Pod saw it. */
  readonly by?: string;
  readonly seen?: string;
  /** Why there was no answer, and where the call led to: a Service's own address if it had no endpoints. */
  readonly error?: string;
  readonly to?: string | undefined;
};

/** The results of the calls that began in a window of time. */
export type Tally = { readonly calls: readonly Call[]; readonly failed: readonly Call[]; readonly ms: number };

/** The minimum number of calls in a window: two seconds of them. */
const ENOUGH = 40;

/** Each look reads the whole file. */
const POLL_MS = 100;

const isAnswered = ({ by }: Call): boolean => by !== undefined;

/** What a container wrote, from its log file: each line has a time, a stream and a tag before it. */
export const outputIn = (log: string): string => log.replaceAll(/^\S+ stdout F /gm, '');

/** A stream of calls, read from the caller's output. */
export class Calls {
  readonly #read: () => string;
  readonly #calls: Call[] = [];
  /** How much of the output has been read: a caller of many minutes has tens of thousands of lines. */
  #end = 0;

  /** @param read returns the whole output so far, also as a container's log */
  constructor(read: () => string) {
    this.#read = read;
  }

  /** The complete calls, by number. */
  all(): readonly Call[] {
    const text = this.#read();
    const end = text.lastIndexOf('\n') + 1;
    const lines = outputIn(text.slice(this.#end, end)).split('\n');
    this.#end = end;
    for (const line of lines) if (line.startsWith('{')) this.#calls.push(JSON.parse(line) as Call);
    return this.#calls.toSorted((a, b) => a.n - b.n);
  }

  /** Waits until so many new calls in a row are answered. @param by who answers; default: any */
  answered(count: number, by?: string): Promise<void> {
    const matches = (call: Call) => (by === undefined ? isAnswered(call) : call.by === by);
    return this.#endWith(count, by === undefined ? 'answers' : `answers of ${by}`, matches);
  }

  /** Waits until so many new calls in a row get no answer. */
  refused(count: number): Promise<void> {
    return this.#endWith(count, 'failures', (call) => !isAnswered(call));
  }

  async #endWith(count: number, what: string, matches: (call: Call) => boolean): Promise<void> {
    const from = Date.now();
    const fresh = () => this.all().filter(({ at }) => at >= from);
    await eventually(() => endsWith(fresh(), count, matches), true, {
      what: `${count} ${what} in a row`,
      intervalMs: POLL_MS,
    });
  }

  /** Waits until a new call ends like this. */
  async one(what: string, matches: (call: Call) => boolean): Promise<Call> {
    const from = Date.now();
    return eventually(() => this.all().find((call) => call.at >= from && matches(call)), isDefined, { what });
  }

  /** The results of the calls that began during a change, or after it until there are enough. Waits for the last one. */
  async during(change: () => Promise<unknown>): Promise<Tally> {
    const startMs = Date.now();
    await change();
    const endMs = Date.now();
    const window = () => windowOf(this.all(), { startMs, endMs, least: ENOUGH });
    return eventually(window, isDefined, { what: 'the end of enough calls', intervalMs: POLL_MS });
  }
}

/** Whether the last calls, at least so many, all match, and none is in flight between them. */
export function endsWith(calls: readonly Call[], count: number, matches: (call: Call) => boolean): boolean {
  const last = calls.slice(-count);
  const [first, latest] = [last[0], last.at(-1)];
  return (
    last.length === count &&
    last.every(matches) &&
    first !== undefined &&
    latest !== undefined &&
    latest.n - first.n === count - 1
  );
}

/**
 * The results of the calls that began between `startMs` and `endMs`, or later if they are fewer than `least`.
 *
 * @param calls the complete calls, by number
 * @returns undefined until all of them, and the first call after them, are complete
 */
export function windowOf(
  calls: readonly Call[],
  { startMs, endMs, least }: { readonly startMs: number; readonly endMs: number; readonly least: number },
): Tally | undefined {
  const first = calls.findIndex(({ at }) => at >= startMs);
  const next = calls.findIndex(({ at }, index) => first !== -1 && index >= first + least && at >= endMs);
  const after = calls[next];
  // The number of a call is its index, unless an earlier call is in flight.
  if (after?.n !== next) return undefined;
  const those = calls.slice(first, next);
  return { calls: those, failed: those.filter((call) => !isAnswered(call)), ms: after.at - startMs };
}
