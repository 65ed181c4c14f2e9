import { setTimeout as delay } from 'node:timers/promises';
import { Dice } from './dice.ts';
import { canHaveFilter, concernsOpenAnswers, type Fault, type FaultKind, type FaultOf } from './fault.ts';
import type { RequestFilter } from './filter.ts';
import type { FaultProxy } from './proxy.ts';

/** A fault for `faultMs`, then none for `calmMs`. Without a filter it affects all requests and connections. */
export type Step = {
  readonly fault: Fault;
  readonly filter?: RequestFilter;
  readonly faultMs: number;
  readonly calmMs: number;
};

export type ScheduleOptions = {
  /** The kinds to choose from. Default: all. */
  readonly kinds?: readonly FaultKind[];
  /** The maximum of `faultMs` and `calmMs`. Default: 1,000. */
  readonly longestMs?: number;
};

/** A random fault for each kind. The type of the table requires an entry for every kind. */
const makers: { readonly [K in FaultKind]: (dice: Dice) => FaultOf<K> } = {
  refuse: () => ({ kind: 'refuse' }),
  reset: (dice) => ({ kind: 'reset', connections: dice.pick(['open', 'new', 'all']) }),
  stall: (dice) => ({ kind: 'stall', ...dice.pick([{}, { direction: 'answers' }]) }),
  truncate: (dice) => ({
    kind: 'truncate',
    after: dice.pick(['mid-event', dice.integer(0, 4_000)]),
    by: dice.pick(['reset', 'close', 'clean']),
  }),
  delay: (dice) => ({ kind: 'delay', requestMs: dice.integer(0, 200), chunkMs: dice.integer(0, 200) }),
  throttle: (dice) => ({ kind: 'throttle', bytesPerSecond: dice.pick([1_000, 10_000, 100_000]) }),
  answer: (dice) => ({
    kind: 'answer',
    status: dice.pick([401, 403, 410, 429, 500, 503]),
    ...dice.pick([{}, { retryAfterSeconds: 1 }]),
    ...dice.pick([{}, { as: 'event' }]),
  }),
  garbage(dice) {
    const random = { kind: 'garbage', body: 'random', seed: dice.integer(0, 2 ** 31) } as const;
    return dice.pick([random, { kind: 'garbage', body: dice.pick(['html', 'huge', 'endless']) }]);
  },
  cut: (dice) => ({ kind: 'cut', everyMs: dice.integer(20, 500), by: dice.pick(['reset', 'close', 'clean']) }),
  empty: () => ({ kind: 'empty' }),
  redirect: () => ({ kind: 'redirect', to: 'https://127.0.0.1:1' }),
  certificate: (dice) => ({ kind: 'certificate', of: dice.pick(['another CA', 'another host', 'the past']) }),
};

/** Every kind of fault. */
export const faultKinds = Object.keys(makers) as readonly FaultKind[];

/**
 * Endless faults, the same for the same seed and options. Most faults affect everything, some only watches,
 * lists, or every n-th request.
 */
export function* randomSchedule(
  seed: number,
  { kinds = faultKinds, longestMs = 1_000 }: ScheduleOptions = {},
): Generator<Step, never> {
  const dice = new Dice(seed);
  for (;;) {
    const fault = makers[dice.pick(kinds)](dice);
    const filter = dice.pick([{}, {}, { verb: 'watch' }, { verb: 'list' }, { every: dice.integer(2, 4) }] as const);
    const filtered = canHaveFilter(fault.kind) && Object.keys(filter).length > 0;
    const [faultMs, calmMs] = [dice.integer(1, longestMs), dice.integer(1, longestMs)];
    yield { fault, ...(filtered && { filter }), faultMs, calmMs };
  }
}

/**
 * Applies a schedule to a proxy until `signal` aborts, then removes its fault. For a fault that affects only
 * new requests, it resets the open connections, so that programs with open watches meet the fault.
 *
 * @returns the steps that were applied, for the error of a failed test
 */
export async function play(
  proxy: Pick<FaultProxy, 'set'>,
  schedule: Iterable<Step>,
  { signal }: { signal: AbortSignal },
): Promise<Step[]> {
  const played: Step[] = [];
  for (const step of schedule) {
    if (signal.aborted) break;
    played.push(step);
    const undo = await proxy.set(step.fault, step.filter);
    if (!concernsOpenAnswers(step.fault)) await proxy.set({ kind: 'reset', connections: 'open' });
    await pause(step.faultMs, signal);
    await undo();
    await pause(step.calmMs, signal);
  }
  return played;
}

type SeedOptions = {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly print?: (line: string) => void;
};

/** A seed for a test: FAULT_SEED, to repeat a failure, or a new one. Prints it. */
export function faultSeed({ env = process.env, print = console.info }: SeedOptions = {}): number {
  const seed = Number(env['FAULT_SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  print(`FAULT_SEED=${seed}`);
  return seed;
}

/** Ends early, without an error, if the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
