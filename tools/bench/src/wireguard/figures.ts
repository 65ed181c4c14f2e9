import type { Summary } from '../measure/summary.ts';
import { enduranceFigures } from '../phases/figures.ts';
import type { Figure } from '../report/figure.ts';

/** The conditions of the budgets. */
type Conditions = { readonly nodes: number };

/** The limit of the agent's memory. */
const MEMORY_MB = 90;

/**
 * The lines of the table, in order, with the budgets of docs/bench.md.
 *
 * @param conditions undefined: no budgets apply
 */
export function wireGuardFigures(conditions: Conditions | undefined): readonly Figure[] {
  const memory = conditions?.nodes === 1000 ? MEMORY_MB : undefined;
  return [
    ...setUpFigures(memory),
    ...scrapeFigures(memory),
    ...changeFigures(conditions && 1),
    { label: 'restart: ready after', value: ({ comeBack }) => comeBack?.seconds, unit: 's', decimals: 2 },
    {
      label: 'restart: calls of wg set',
      value: ({ comeBack }) => comeBack?.setCalls,
      unit: '',
      decimals: 0,
      budget: conditions && 0,
    },
    ...enduranceFigures({ cpu: conditions && 0.5, peakMb: memory }),
  ];
}

function setUpFigures(memoryBudget: number | undefined): Figure[] {
  return [
    { label: 'start: all peers shown by wg after', value: ({ setUp }) => setUp?.seconds, unit: 's', decimals: 2 },
    { label: 'start: CPU, with that of wg and ip', value: ({ setUp }) => setUp?.cpuSeconds, unit: 's', decimals: 2 },
    { label: 'start: peak memory', value: ({ setUp }) => setUp?.peakMb, unit: 'MB', decimals: 0, budget: memoryBudget },
    { label: 'settled memory', value: ({ setUp }) => setUp?.settledMb, unit: 'MB', decimals: 0, budget: memoryBudget },
    { label: 'start: calls of wg set', value: ({ setUp }) => setUp?.setCalls, unit: '', decimals: 0 },
    { label: 'requests to the remote cluster', value: ({ setUp }) => setUp?.requests.remote, unit: '', decimals: 0 },
    { label: 'requests to the local cluster', value: ({ setUp }) => setUp?.requests.local, unit: '', decimals: 0 },
  ];
}

function scrapeFigures(memoryBudget: number | undefined): Figure[] {
  return [
    { label: 'scrapes 15 s apart', value: ({ scrapes }) => scrapes?.count, unit: '', decimals: 0 },
    { label: 'scrapes: length of an answer', value: ({ scrapes }) => scrapes?.kilobytes, unit: 'kB', decimals: 0 },
    { label: 'scrapes: time, p50', value: ({ scrapes }) => scrapes?.ms.p50, unit: 'ms', decimals: 0 },
    { label: 'scrapes: time, max', value: ({ scrapes }) => scrapes?.ms.max, unit: 'ms', decimals: 0 },
    {
      label: 'scrapes: most memory after one',
      value: ({ scrapes }) => scrapes?.mostMb,
      unit: 'MB',
      decimals: 0,
      budget: memoryBudget,
    },
    {
      label: 'scrapes: memory after the last',
      value: ({ scrapes }) => scrapes?.residentMb,
      unit: 'MB',
      decimals: 0,
      budget: memoryBudget,
    },
  ];
}

const percentiles = ['p50', 'max'] as const satisfies readonly (keyof Summary)[];

function changeFigures(callBudget: number | undefined): Figure[] {
  const row = (what: string, part: 'fromRequest' | 'fromAnswer', percentile: keyof Summary): Figure => {
    return {
      label: `one change: from ${what} to wg, ${percentile}`,
      value: ({ peerChanges }) => peerChanges?.[part][percentile],
      unit: 'ms',
      decimals: 0,
    };
  };
  return [
    ...percentiles.map((percentile) => row('the PATCH of a Node', 'fromRequest', percentile)),
    ...percentiles.map((percentile) => row('its answer', 'fromAnswer', percentile)),
    {
      label: 'one change: calls of wg set',
      value: ({ peerChanges }) => peerChanges?.setCallsPerChange,
      unit: '',
      decimals: 2,
      budget: callBudget,
    },
    {
      label: 'one change: peers in a call',
      value: ({ peerChanges }) => peerChanges?.peersPerCall,
      unit: '',
      decimals: 0,
      budget: callBudget,
    },
  ];
}
