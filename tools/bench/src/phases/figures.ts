import type { Summary } from '../measure/summary.ts';
import type { Figure } from '../report/figure.ts';
import type { Propagation } from './propagation.ts';
import type { Result } from './result.ts';

type Target = Figure['target'];

/** The limits of a cold sync; undefined: none. */
type ColdSyncTargets = Partial<Record<'first' | 'all' | 'cpu' | 'peakMb', Target>>;

const percentiles = ['p50', 'p90', 'p99'] as const satisfies readonly (keyof Summary)[];

/** Over 5 s: five writes at once, then one per 200 ms, the default of `-min-write-interval`; and one for the edges. */
export const WRITES_PER_SECOND = 31 / 5;

/** @param one the written object, such as `set` */
export const coldSyncFigures = (one: string, { first, all, cpu, peakMb }: ColdSyncTargets): Figure[] => [
  {
    label: `cold sync: first ${one} written after`,
    value: ({ coldSync }) => coldSync?.firstSeconds,
    unit: 's',
    target: first,
  },
  {
    label: `cold sync: all ${one}s written after`,
    value: ({ coldSync }) => coldSync?.allSeconds,
    unit: 's',
    target: all,
  },
  { label: 'cold sync: CPU', value: ({ coldSync }) => coldSync?.cpuSeconds, unit: 's', target: cpu },
  { label: 'cold sync: peak memory', value: ({ coldSync }) => coldSync?.peakMb, unit: 'MB', target: peakMb },
  { label: 'settled memory', value: ({ coldSync }) => coldSync?.settledMb, unit: 'MB' },
  { label: 'requests to the remote cluster', value: ({ coldSync }) => coldSync?.requests.remote, unit: '' },
  { label: 'requests to the local cluster', value: ({ coldSync }) => coldSync?.requests.local, unit: '' },
];

/** The texts of both phases of changes. */
type Change = {
  /** For "from ... to its local set": the request, and its effect. */
  readonly request: string;
  readonly leadsTo: string;
  /** The written object. */
  readonly one: string;
  /** The limit of requests per write. */
  readonly requestsPerWrite: Target;
  /** The limits of steady changes, from the answer on; undefined: none. */
  readonly steadyMs?: Partial<Record<keyof Summary, Target>> | undefined;
};

/** Single changes at a steady rate, then as many at once. */
export const changeFigures = (change: Change): Figure[] => [
  ...propagationFigures('20 changes/s', ({ steady }) => steady, change, change.steadyMs),
  {
    label: `20 changes/s: requests per written ${change.one}`,
    value: ({ steady }) => steady?.requestsPerWrite,
    unit: '',
    target: change.requestsPerWrite,
  },
  ...propagationFigures('burst', ({ burst }) => burst, change),
  { label: 'burst: all seen after', value: ({ burst }) => burst?.seconds, unit: 's' },
];

function propagationFigures(
  name: string,
  of: (result: Result) => Propagation | undefined,
  { request, leadsTo }: Change,
  targets: Change['steadyMs'] = {},
): Figure[] {
  const rows = (what: string, part: 'fromRequest' | 'fromAnswer', limits: Change['steadyMs'] = {}): Figure[] =>
    percentiles.map((percentile) => ({
      label: `${name}: ${what}, ${percentile}`,
      value: (result) => of(result)?.[part][percentile],
      unit: 'ms',
      target: limits[percentile],
    }));
  return [
    ...rows(`from ${request} to ${leadsTo}`, 'fromRequest'),
    ...rows('from the answer to that', 'fromAnswer', targets),
    { label: `${name}: CPU`, value: (result) => of(result)?.cpuSeconds, unit: 's' },
    { label: `${name}: writes`, value: (result) => of(result)?.writes, unit: '' },
  ];
}

/** @param writesPerSecond a slow machine needs longer than 5 s, and may write more */
export const rolloutFigures = (writesPerSecond: Target): Figure[] => [
  { label: 'rollout: all addresses seen after', value: ({ rollout }) => rollout?.seconds, unit: 's' },
  { label: 'rollout: writes', value: ({ rollout }) => rollout?.writes, unit: '' },
  {
    label: 'rollout: writes per second',
    value: ({ rollout }) => rollout && rollout.writes / rollout.seconds,
    unit: '',
    target: writesPerSecond,
  },
];

/** Figures of the last phase, and of all phases. */
export const enduranceFigures = ({ cpu, peakMb }: { cpu: Target; peakMb?: Target }): Figure[] => [
  { label: 'peak memory of all phases', value: (result) => result.peakMb, unit: 'MB', target: peakMb },
  { label: 'idle: CPU of one core', value: ({ idle }) => idle?.cpuPercent, unit: '%', target: cpu },
  { label: 'idle: memory', value: ({ idle }) => idle?.residentMb, unit: 'MB' },
];
