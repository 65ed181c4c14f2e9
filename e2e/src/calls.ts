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

/** What came of the calls that began in a span of time. */
export type Tally = { readonly calls: readonly Call[]; readonly failed: readonly Call[]; readonly ms: number };

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
      () => endsWell(this.all().filter(({ at }) => at >= from), count),
      true,
      { what: `${count} answers in a row`, timeoutMs },
    );
  }

  /** Waits until a call that begins from now on ends like this. */
  async one(what: string, matches: (call: Call) => boolean, timeoutMs = 30_000): Promise<Call> {
    const from = Date.now();
    return eventually(
      () => this.all().find((call) => call.at >= from && matches(call)),
      isDefined,
      { what, timeoutMs },
    );
  }

  /** What came of the calls that began while something was going on. Waits for the last of them. */
  async during(change: () => Promise<unknown>): Promise<Tally> {
    const start = Date.now();
    await change();
    const end = Date.now();
    const calls = await eventually(() => completeUntil(this.all(), end), isDefined, { what: 'the end of all calls' });
    const those = calls.filter(({ at }) => at >= start && at < end);
    return { calls: those, failed: those.filter((call) => !isAnswered(call)), ms: end - start };
  }
}

/** Whether so many calls at the end were answered, without one between them that wasn't, or is still under way. */
export function endsWell(calls: readonly Call[], count: number): boolean {
  const last = calls.slice(-count);
  const [first, latest] = [last[0], last.at(-1)];
  return last.length === count && last.every(isAnswered) && first !== undefined && latest !== undefined && latest.n - first.n === count - 1;
}

/** The calls, if all that began before a time have ended. */
export function completeUntil(calls: readonly Call[], end: number): readonly Call[] | undefined {
  const next = calls.findIndex(({ at }) => at >= end);
  return next !== -1 && calls[next]?.n === next ? calls : undefined;
}
