import { forObjects } from '../measure/requests.ts';
import {
  changeFigures,
  coldSyncFigures,
  enduranceFigures,
  rolloutFigures,
  WRITES_PER_SECOND,
} from '../phases/figures.ts';
import type { Figure } from '../report/figure.ts';
import type { CatalogSize } from './catalog.ts';
import { slicesFor } from './source-objects.ts';

/** The conditions of the targets. */
type Conditions = CatalogSize & {
  readonly rolloutPods: number;
  /** Seconds to create all local objects by a loop that does nothing else. */
  readonly bareCreationSeconds: number;
};

/** One dry run for the mirror namespace, and one for the signing keys of a cluster. */
const AT_START = 2;

/**
 * The lines of the table, in order.
 *
 * @param conditions undefined: no targets apply
 */
export const mirrorFigures = (conditions: Conditions | undefined): readonly Figure[] => {
  const targets = conditions ? coldSyncTargets(conditions) : {};
  return [
    ...coldSyncFigures('object', targets),
    {
      label: 'cold sync: local requests without lists and watches',
      value: ({ coldSync }) => coldSync && forObjects(coldSync.requests.local),
      unit: '',
      target: conditions && AT_START + conditions.services * (1 + slicesFor(conditions.endpoints)),
    },
    { label: 'restart: change of the downtime written after', value: ({ restart }) => restart?.seconds, unit: 's' },
    { label: 'restart: peak memory', value: ({ restart }) => restart?.peakMb, unit: 'MB', target: targets.peakMb },
    {
      label: 'restart: other writes',
      value: ({ restart }) => restart?.otherWrites,
      unit: '',
      target: conditions && 0,
    },
    { label: 'restart: requests to the local cluster', value: ({ restart }) => restart?.requests, unit: '' },
    ...changeFigures({
      request: 'the PUT of an endpoint',
      leadsTo: 'its local slice',
      one: 'slice',
      requestsPerWrite: conditions && 1,
    }),
    ...rolloutFigures(conditions && WRITES_PER_SECOND * slicesFor(conditions.rolloutPods)),
    ...enduranceFigures({ cpu: conditions && 0.5 }),
  ];
};

/** Time, CPU and memory have targets for two sizes. */
function coldSyncTargets({ services, endpoints, bareCreationSeconds }: Conditions): {
  readonly all?: number;
  readonly cpu?: number;
  readonly peakMb?: number;
} {
  if (services === 1000 && endpoints === 10) return { all: 1.15 * bareCreationSeconds, peakMb: 70 };
  if (services === 5000 && endpoints === 100) return { all: 30, cpu: 20, peakMb: 300 };
  return {};
}
