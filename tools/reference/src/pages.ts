import { rowsOf, type OptionTable } from '@kube-semaphore/options';
import { metrics as policyMetrics } from '@kube-semaphore/policy/metrics';
import { options as policyOptions, program as policy } from '@kube-semaphore/policy/options';
import { metrics as mirrorMetrics } from '@kube-semaphore/service-mirror/metrics';
import { options as mirrorOptions, program as mirror } from '@kube-semaphore/service-mirror/options';
import { metrics as wireguardMetrics } from '@kube-semaphore/wireguard/metrics';
import { options as wireguardOptions, program as wireguard } from '@kube-semaphore/wireguard/options';
import { type Documented, referencePages } from './page.ts';

/** The programs of the reference. */
export const documented: readonly Documented[] = [
  {
    app: 'policy',
    program: policy,
    variables: 'SP',
    series: 'semaphore_policy',
    options: specs(policyOptions),
    metrics: Object.values(policyMetrics),
  },
  {
    app: 'service-mirror',
    program: mirror,
    variables: 'SSM',
    series: 'semaphore_service_mirror',
    options: specs(mirrorOptions),
    metrics: Object.values(mirrorMetrics),
  },
  {
    app: 'wireguard',
    program: wireguard,
    variables: 'SWG',
    series: 'semaphore_wg',
    options: specs(wireguardOptions),
    metrics: Object.values(wireguardMetrics),
  },
];

/** Every page below docs/reference, by file name. */
export const pages = referencePages(documented);

/** The rows of a table, by group. */
function specs<C>(table: OptionTable<C>): Documented['options'] {
  return [
    ...Map.groupBy(
      rowsOf(table).map(([, spec]) => spec),
      ({ group }) => group,
    ).values(),
  ].flat();
}
