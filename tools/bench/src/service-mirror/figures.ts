import { forObjects } from '../measure/requests.ts';
import {
  coldSyncFigures,
  enduranceFigures,
  propagationFigures,
  requestsPerWrite,
  rolloutFigures,
} from '../phases/figures.ts';
import type { Result } from '../phases/result.ts';
import type { Figure } from '../report/figure.ts';
import type { CatalogSize } from './catalog.ts';
import { slicesFor } from './source-objects.ts';

/** The conditions of the budgets. */
type Conditions = CatalogSize & { readonly rolloutPods: number };

const steady = { name: '20 changes/s', of: ({ steady: phase }: Result) => phase };
const burst = { name: 'burst', of: ({ burst: phase }: Result) => phase };
const change = { request: 'the PUT of an endpoint', leadsTo: 'its local slice' };

/** Five writes at once, then one per 200 ms, the default of `-min-write-interval`; and one for the edges. */
const WRITES_IN_5_S = 31;

/** One dry run for the mirror namespace, and one for the signing keys of a cluster. */
const AT_START = 2;

/**
 * The lines of the table, in order, with the budgets of docs/bench.md.
 *
 * @param conditions undefined: no budgets apply
 */
export function mirrorFigures(conditions: Conditions | undefined): readonly Figure[] {
  // Budgets of time and memory are for one size; budgets per object are for all sizes.
  const usual = conditions?.services === 1000 && conditions.endpoints === 10;
  return [
    ...coldSyncFigures('object', { all: usual ? 5 : undefined, peakMb: usual ? 100 : undefined }),
    {
      label: 'cold sync: local requests without lists and watches',
      value: ({ coldSync }) => coldSync && forObjects(coldSync.requests.local),
      unit: '',
      decimals: 0,
      budget: conditions && AT_START + conditions.services * (1 + slicesFor(conditions.endpoints)),
    },
    ...restartFigures(conditions && 0),
    ...propagationFigures({ ...steady, ...change }),
    requestsPerWrite(steady, 'slice', conditions && 1),
    ...propagationFigures({ ...burst, ...change }),
    ...rolloutFigures(conditions && WRITES_IN_5_S * slicesFor(conditions.rolloutPods)),
    ...enduranceFigures({ cpu: conditions && 0.5 }),
  ];
}

function restartFigures(writesBudget: number | undefined): Figure[] {
  return [
    {
      label: 'restart: change of the downtime written after',
      value: ({ restart }) => restart?.seconds,
      unit: 's',
      decimals: 2,
    },
    {
      label: 'restart: other writes',
      value: ({ restart }) => restart?.otherWrites,
      unit: '',
      decimals: 0,
      budget: writesBudget,
    },
    {
      label: 'restart: requests to the local cluster',
      value: ({ restart }) => restart?.requests,
      unit: '',
      decimals: 0,
    },
  ];
}
