import {
  coldSyncFigures,
  enduranceFigures,
  propagationFigures,
  requestsPerWrite,
  rolloutFigures,
} from '../phases/figures.ts';
import type { Result } from '../phases/result.ts';
import type { Figure } from '../report/figure.ts';
import type { FleetSize } from './fleet.ts';

/** The conditions of the budgets. */
type Conditions = FleetSize & {
  /** Seconds of the stream at the start of a cold sync. */
  readonly bareDownloadSeconds: number;
};

const steady = { name: '20 changes/s', of: ({ steady: phase }: Result) => phase };
const burst = { name: 'burst', of: ({ burst: phase }: Result) => phase };
const change = { request: 'the PATCH of a pod', leadsTo: 'its local set' };

/**
 * The lines of the table, in order, with the budgets of docs/bench.md.
 *
 * @param conditions undefined: no budgets apply
 */
export function policyFigures(conditions: Conditions | undefined): readonly Figure[] {
  const budget = <T>(value: T): T | undefined => (conditions === undefined ? undefined : value);
  return [
    ...coldSyncFigures('set', {
      // A program must read all pods before it writes.
      first: conditions && 1.5 * conditions.bareDownloadSeconds,
      all: bySize({ 10_000: 1.7, 50_000: 5 }, conditions),
      peakMb: bySize({ 10_000: 115, 50_000: 160 }, conditions),
    }),
    ...propagationFigures({ ...steady, ...change, budgets: budget({ p50: 4.4, p99: 9.7 }) ?? {} }),
    requestsPerWrite(steady, 'set', budget(1)),
    ...propagationFigures({ ...burst, ...change, budgets: budget({ p50: 27, p99: 90 }) ?? {} }),
    ...rolloutFigures(budget(31)),
    ...enduranceFigures({ cpu: budget(0.5) }),
  ];
}

/** A cold sync has budgets for 500 sets, and two numbers of pods. */
function bySize(limits: Readonly<Record<number, number>>, conditions: Conditions | undefined): number | undefined {
  return conditions?.sets === 500 ? limits[conditions.pods] : undefined;
}
