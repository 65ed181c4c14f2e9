import type { Summary } from '../measure/summary.ts';
import type { Figure } from '../report/figure.ts';
import type { Propagation } from './propagation.ts';
import type { Result } from './result.ts';

/** The limit for our program. */
type Budget = number | undefined;

const percentiles = ['p50', 'p90', 'p99', 'max'] as const satisfies readonly (keyof Summary)[];

/** @param one the written object, such as `set` */
export function coldSyncFigures(one: string, budgets: { first?: Budget; all: Budget; peakMb: Budget }): Figure[] {
  return [
    {
      label: `cold sync: first ${one} written after`,
      value: ({ coldSync }) => coldSync?.firstSeconds,
      unit: 's',
      decimals: 2,
      budget: budgets.first,
    },
    {
      label: `cold sync: all ${one}s written after`,
      value: ({ coldSync }) => coldSync?.allSeconds,
      unit: 's',
      decimals: 2,
      budget: budgets.all,
    },
    { label: 'cold sync: CPU', value: ({ coldSync }) => coldSync?.cpuSeconds, unit: 's', decimals: 2 },
    {
      label: 'cold sync: peak memory',
      value: ({ coldSync }) => coldSync?.peakMb,
      unit: 'MB',
      decimals: 0,
      budget: budgets.peakMb,
    },
    { label: 'settled memory', value: ({ coldSync }) => coldSync?.settledMb, unit: 'MB', decimals: 0 },
    {
      label: 'requests to the remote cluster',
      value: ({ coldSync }) => coldSync?.requests.remote,
      unit: '',
      decimals: 0,
    },
    {
      label: 'requests to the local cluster',
      value: ({ coldSync }) => coldSync?.requests.local,
      unit: '',
      decimals: 0,
    },
  ];
}

/** The texts of a phase of changes. */
type Phase = {
  readonly name: string;
  readonly of: (result: Result) => Propagation | undefined;
  /** For "from ... to its local set": the request, and its effect. */
  readonly request: string;
  readonly leadsTo: string;
  /** Limits from the answer on. */
  readonly budgets?: Partial<Record<keyof Summary, Budget>>;
};

export function propagationFigures({ name, of, request, leadsTo, budgets = {} }: Phase): Figure[] {
  const row = (
    what: string,
    part: 'fromRequest' | 'fromAnswer',
    percentile: keyof Summary,
    budget?: Budget,
  ): Figure => {
    return {
      label: `${name}: ${what}, ${percentile}`,
      value: (result) => of(result)?.[part][percentile],
      unit: 'ms',
      decimals: 1,
      budget,
    };
  };
  return [
    ...percentiles.map((percentile) => row(`from ${request} to ${leadsTo}`, 'fromRequest', percentile)),
    ...percentiles.map((percentile) => row('from the answer to that', 'fromAnswer', percentile, budgets[percentile])),
    { label: `${name}: all seen after`, value: (result) => of(result)?.seconds, unit: 's', decimals: 2 },
    { label: `${name}: writes`, value: (result) => of(result)?.writes, unit: '', decimals: 0 },
  ];
}

/** @param budget requests per local write */
export function requestsPerWrite({ name, of }: Pick<Phase, 'name' | 'of'>, one: string, budget: Budget): Figure {
  return {
    label: `${name}: requests per written ${one}`,
    value: (result) => of(result)?.requestsPerWrite,
    unit: '',
    decimals: 2,
    budget,
  };
}

export function rolloutFigures(writesBudget: Budget): Figure[] {
  return [
    { label: 'rollout: all addresses seen after', value: ({ rollout }) => rollout?.seconds, unit: 's', decimals: 2 },
    { label: 'rollout: writes', value: ({ rollout }) => rollout?.writes, unit: '', decimals: 0, budget: writesBudget },
  ];
}

/** Figures of the last phase, and of all phases. */
export function enduranceFigures(budgets: { cpu: Budget; peakMb?: Budget }): Figure[] {
  return [
    {
      label: 'peak memory of all phases',
      value: ({ peakMb }) => peakMb,
      unit: 'MB',
      decimals: 0,
      budget: budgets.peakMb,
    },
    {
      label: 'idle: CPU of one core',
      value: ({ idle }) => idle?.cpuPercent,
      unit: '%',
      decimals: 2,
      budget: budgets.cpu,
    },
    { label: 'idle: memory', value: ({ idle }) => idle?.residentMb, unit: 'MB', decimals: 0 },
  ];
}
