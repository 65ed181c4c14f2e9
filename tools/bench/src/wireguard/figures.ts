import type { Summary } from '../measure/summary.ts';
import { enduranceFigures } from '../phases/figures.ts';
import type { Figure } from '../report/figure.ts';

/** The conditions of the targets. */
type Conditions = { readonly nodes: number };

/** The limit of the agent's memory. */
const MEMORY_MB = 65;

/**
 * The lines of the table, in order.
 *
 * @param conditions undefined: no targets apply
 */
export function wireGuardFigures(conditions: Conditions | undefined): readonly Figure[] {
  const memory = conditions?.nodes === 1000 ? MEMORY_MB : undefined;
  return [
    ...setUpFigures(memory),
    ...scrapeFigures(memory),
    ...changeFigures(conditions && 1),
    { label: 'restart: ready after', value: ({ comeBack }) => comeBack?.seconds, unit: 's' },
    {
      label: 'restart: calls of wg set',
      value: ({ comeBack }) => comeBack?.setCalls,
      unit: '',
      target: conditions && 0,
    },
    ...enduranceFigures({ cpu: conditions && 0.5, peakMb: memory }),
  ];
}

function setUpFigures(memoryTarget: number | undefined): Figure[] {
  return [
    { label: 'start: all peers shown by wg after', value: ({ setUp }) => setUp?.seconds, unit: 's' },
    { label: 'start: CPU, with that of wg and ip', value: ({ setUp }) => setUp?.cpuSeconds, unit: 's' },
    { label: 'start: peak memory', value: ({ setUp }) => setUp?.peakMb, unit: 'MB', target: memoryTarget },
    { label: 'settled memory', value: ({ setUp }) => setUp?.settledMb, unit: 'MB', target: memoryTarget },
    { label: 'start: calls of wg set', value: ({ setUp }) => setUp?.setCalls, unit: '' },
    { label: 'requests to the remote cluster', value: ({ setUp }) => setUp?.requests.remote, unit: '' },
    { label: 'requests to the local cluster', value: ({ setUp }) => setUp?.requests.local, unit: '' },
  ];
}

function scrapeFigures(memoryTarget: number | undefined): Figure[] {
  return [
    { label: 'scrapes 15 s apart', value: ({ scrapes }) => scrapes?.count, unit: '' },
    { label: 'scrapes: length of an answer', value: ({ scrapes }) => scrapes?.kilobytes, unit: 'kB' },
    { label: 'scrapes: time, p50', value: ({ scrapes }) => scrapes?.ms.p50, unit: 'ms' },
    { label: 'scrapes: time, max', value: ({ scrapes }) => scrapes?.ms.max, unit: 'ms' },
    {
      label: 'scrapes: most memory after one',
      value: ({ scrapes }) => scrapes?.mostMb,
      unit: 'MB',
      target: memoryTarget,
    },
    {
      label: 'scrapes: memory after the last',
      value: ({ scrapes }) => scrapes?.residentMb,
      unit: 'MB',
      target: memoryTarget,
    },
  ];
}

const percentiles = ['p50', 'max'] as const satisfies readonly (keyof Summary)[];

function changeFigures(callTarget: number | undefined): Figure[] {
  const row = (what: string, part: 'fromRequest' | 'fromAnswer', percentile: keyof Summary): Figure => {
    return {
      label: `one change: from ${what} to wg, ${percentile}`,
      value: ({ peerChanges }) => peerChanges?.[part][percentile],
      unit: 'ms',
    };
  };
  return [
    ...percentiles.map((percentile) => row('the PATCH of a Node', 'fromRequest', percentile)),
    ...percentiles.map((percentile) => row('its answer', 'fromAnswer', percentile)),
    { label: 'one change: CPU, with that of wg', value: ({ peerChanges }) => peerChanges?.cpuMs, unit: 'ms' },
    {
      label: 'one change: calls of wg set',
      value: ({ peerChanges }) => peerChanges?.setCallsPerChange,
      unit: '',
      target: callTarget,
    },
    {
      label: 'one change: peers in a call',
      value: ({ peerChanges }) => peerChanges?.peersPerCall,
      unit: '',
      target: callTarget,
    },
  ];
}
