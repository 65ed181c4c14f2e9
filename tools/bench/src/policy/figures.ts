import type { VerbCounts } from '../measure/requests.ts';
import type { Summary } from '../measure/summary.ts';
import type { FleetSize } from '../load/fleet.ts';
import type { Propagation } from './propagation.ts';
import type { Result } from './result.ts';

/** What results are judged against. */
export type Conditions = FleetSize & {
  /** Of the same stream that a cold sync begins with. */
  readonly bareDownloadSeconds: number;
};

/** One line of the table. */
export type Figure = {
  readonly label: string;
  /** undefined if it wasn't measured. */
  readonly value: (result: Result) => number | VerbCounts | undefined;
  readonly unit: 's' | 'ms' | 'MB' | '%' | '';
  readonly decimals: number;
  /** The most that ours may have, where docs/architecture.md sets a budget. */
  readonly budget?: (conditions: Conditions) => number | undefined;
};

const percentiles = ['p50', 'p90', 'p99', 'max'] as const satisfies readonly (keyof Summary)[];

/** The lines of the table, in order. */
export const figures: readonly Figure[] = [
  {
    label: 'cold sync: first set written after',
    value: ({ coldSync }) => coldSync?.firstSetSeconds,
    unit: 's',
    decimals: 2,
    // Before it writes a program must have read all pods.
    budget: ({ bareDownloadSeconds }) => 1.5 * bareDownloadSeconds,
  },
  {
    label: 'cold sync: all sets written after',
    value: ({ coldSync }) => coldSync?.allSetsSeconds,
    unit: 's',
    decimals: 2,
    budget: bySize({ 10_000: 1.7, 50_000: 5 }),
  },
  { label: 'cold sync: CPU', value: ({ coldSync }) => coldSync?.cpuSeconds, unit: 's', decimals: 2 },
  {
    label: 'cold sync: peak memory',
    value: ({ coldSync }) => coldSync?.peakMb,
    unit: 'MB',
    decimals: 0,
    budget: bySize({ 10_000: 115, 50_000: 160 }),
  },
  { label: 'settled memory', value: ({ coldSync }) => coldSync?.settledMb, unit: 'MB', decimals: 0 },
  { label: 'requests to the remote cluster', value: ({ coldSync }) => coldSync?.requests.remote, unit: '', decimals: 0 },
  { label: 'requests to the local cluster', value: ({ coldSync }) => coldSync?.requests.local, unit: '', decimals: 0 },
  ...propagationFigures('20 changes/s', ({ steady }) => steady, { p50: 4.4, p99: 9.7 }),
  {
    label: '20 changes/s: requests per written set',
    value: ({ steady }) => steady?.requestsPerWrite,
    unit: '',
    decimals: 2,
    budget: () => 1,
  },
  ...propagationFigures('burst', ({ burst }) => burst, { p50: 27, p99: 90 }),
  {
    label: 'rollout: all addresses seen after',
    value: ({ rollout }) => rollout?.seconds,
    unit: 's',
    decimals: 2,
  },
  { label: 'rollout: writes', value: ({ rollout }) => rollout?.writes, unit: '', decimals: 0, budget: () => 30 },
  { label: 'peak memory of all phases', value: ({ peakMb }) => peakMb, unit: 'MB', decimals: 0 },
  {
    label: 'idle: CPU of one core',
    value: ({ idleCpuPercent }) => idleCpuPercent,
    unit: '%',
    decimals: 2,
    budget: () => 0.5,
  },
];

/** Budgets are set for 500 sets, and for two numbers of pods. */
function bySize(limits: Readonly<Record<number, number>>): NonNullable<Figure['budget']> {
  return ({ pods, sets }) => (sets === 500 ? limits[pods] : undefined);
}

function propagationFigures(
  phase: string,
  of: (result: Result) => Propagation | undefined,
  budgets: Partial<Record<keyof Summary, number>>,
): Figure[] {
  const rows = (what: string, part: 'fromPatch' | 'fromAnswer') =>
    percentiles.map((percentile): Figure => {
      const label = `${phase}: ${what}, ${percentile}`;
      return { label, value: (result) => of(result)?.[part][percentile], unit: 'ms', decimals: 1 };
    });
  return [
    ...rows('from the PATCH of a pod to its local set', 'fromPatch'),
    ...rows('from the answer to that', 'fromAnswer').map((figure, index) => {
      const budget = budgets[percentiles[index] ?? 'max'];
      return budget === undefined ? figure : { ...figure, budget: () => budget };
    }),
    { label: `${phase}: writes`, value: (result) => of(result)?.writes, unit: '', decimals: 0 },
  ];
}
