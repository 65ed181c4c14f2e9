import type { RunOptions } from '@kube-semaphore/kube-client';
import { everyPeriod, type LeaderQueue } from '@kube-semaphore/multicluster';
import { compareText } from '@kube-semaphore/naming';
import { IMPORT, parseImportKey, parseServiceKey } from '../names.ts';
import { type DownLevels, type LevelReport, NO_LEVELS } from './desired/routing/who-answers.ts';
import type { RoutingState } from './desired/routing/route.ts';

/** How often to look for Services that time changes. */
const DUE_MS = 1_000;

/** A Service with an order of clusters. */
export type OrderedService = {
  /** `global shop/web` or `import shop/web`. */
  readonly service: string;
  readonly levels: readonly LevelReport[];
};

/** Who answers for a Service: its best level that has the Service, another one, or none. */
export type Answering = 'best' | 'other' | 'none';

/** What is told of all Services with an order. */
export type OrdersReport = {
  /** How many there are. */
  readonly services: Readonly<Record<Answering, number>>;
  /** Some of those that the best level doesn't answer for, sorted. */
  readonly moved: readonly OrderedService[];
};

/** A page must not grow with the mesh. */
const MOST_MOVED = 100;

/** What the last decision about each Service with an order of clusters left for the next one, by key. */
export class RoutingStates {
  readonly #now: () => number;
  readonly #states = new Map<string, RoutingState>();

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** For the next decision about a key. */
  next(key: string): { readonly down: DownLevels; readonly nowMs: number } {
    return { down: this.#states.get(key)?.down ?? NO_LEVELS, nowMs: this.#now() };
  }

  /** @param state undefined: the Service has no order */
  keep(key: string, state: RoutingState | undefined): void {
    if (state === undefined) this.#states.delete(key);
    else this.#states.set(key, state);
  }

  /** The keys for which time has changed what they want. */
  dueKeys(): readonly string[] {
    const nowMs = this.#now();
    return [...this.#states].filter(([, { dueMs = Infinity }]) => dueMs <= nowMs).map(([key]) => key);
  }

  /** Enqueues those keys until `signal` is aborted. */
  run(queue: Pick<LeaderQueue, 'enqueue'>, running: RunOptions): Promise<void> {
    return everyPeriod(DUE_MS, () => queue.enqueue(this.dueKeys()), running);
  }

  /** All that have an order. */
  services(): readonly OrderedService[] {
    return [...this.#states].map(([key, { levels }]) => ({ service: serviceOf(key), levels }));
  }
}

export function ordersReport(ordered: readonly OrderedService[]): OrdersReport {
  const services = { best: 0, other: 0, none: 0 };
  const moved: OrderedService[] = [];
  for (const each of ordered) {
    const who = answering(each.levels);
    services[who] += 1;
    if (who !== 'best') moved.push(each);
  }
  return { services, moved: moved.toSorted((a, b) => compareText(a.service, b.service)).slice(0, MOST_MOVED) };
}

function answering(levels: readonly LevelReport[]): Answering {
  const present = levels.filter(({ role }) => role !== undefined);
  const first = present.findIndex(({ role }) => role === 'first');
  return first === -1 ? 'none' : first === 0 ? 'best' : 'other';
}

function serviceOf(key: string): string {
  const { namespace, name } = parseImportKey(key) ?? parseServiceKey(key)!;
  return `${key.startsWith(IMPORT) ? 'import' : 'global'} ${namespace}/${name}`;
}
