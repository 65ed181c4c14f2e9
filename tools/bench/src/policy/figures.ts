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

/** The same with `--network-policies`, for 50,000 pods. */
export const companionFigures = (
  conditions: (Conditions & { readonly bareCreationSeconds: number }) | undefined,
): readonly Figure[] => [
  ...coldSyncFigures('companion', {
    first: conditions && 2 * conditions.bareDownloadSeconds,
    all: conditions && 2 * conditions.bareDownloadSeconds,
    peakMb: conditions?.pods === 50_000 ? 190 : undefined,
  }),
  ...changeFigures({
    request: 'the PATCH of a pod',
    leadsTo: 'its companion',
    one: 'companion',
    requestsPerWrite: conditions && 1,
    steadyMs: conditions && { p50: 10, p99: 50 },
  }),
  ...rolloutFigures(conditions && WRITES_PER_SECOND),
  {
    label: 'labels of all namespaces: all companions written after',
    value: ({ reevaluation }) => reevaluation?.seconds,
    unit: 's',
    target: conditions && conditions.bareCreationSeconds + 2,
  },
  {
    label: 'labels of all namespaces: longest answer of /healthz',
    value: ({ reevaluation }) => reevaluation?.answers.longestMs,
    unit: 'ms',
  },
  {
    label: 'labels of all namespaces: the same without waits for a core',
    value: ({ reevaluation }) => reevaluation?.answers.longestRunningMs,
    unit: 'ms',
    target: conditions && 50,
  },
  ...enduranceFigures({ cpu: conditions && 0.5, peakMb: conditions?.pods === 50_000 ? 190 : undefined }),
];

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
