import {
  changeFigures,
  coldSyncFigures,
  enduranceFigures,
  rolloutFigures,
  WRITES_PER_SECOND,
} from '../phases/figures.ts';
import type { Figure } from '../report/figure.ts';
import type { FleetSize } from './fleet.ts';

/** The conditions of the targets. */
type Conditions = FleetSize & {
  /** Seconds of the stream at the start of a cold sync. */
  readonly bareDownloadSeconds: number;
};

/** In MB, for 500 sets of this number of pods. */
const PEAK_MEMORY: Readonly<Record<number, number>> = { 10_000: 80, 50_000: 115 };

/**
 * The lines of the table, in order.
 *
 * @param conditions undefined: no targets apply
 */
export const policyFigures = (conditions: Conditions | undefined): readonly Figure[] => [
  ...coldSyncFigures('set', {
    // A program must read all pods before it writes.
    first: conditions && 1.3 * conditions.bareDownloadSeconds,
    all: conditions && 1.5 * conditions.bareDownloadSeconds,
    peakMb: conditions?.sets === 500 ? PEAK_MEMORY[conditions.pods] : undefined,
  }),
  ...changeFigures({
    request: 'the PATCH of a pod',
    leadsTo: 'its local set',
    one: 'set',
    requestsPerWrite: conditions && 1,
  }),
  ...rolloutFigures(conditions && WRITES_PER_SECOND),
  ...enduranceFigures({ cpu: conditions && 0.5 }),
];
