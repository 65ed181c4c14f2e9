import { metrics as policy } from '@kube-semaphore/policy/metrics';
import { addProcessMetrics, createMetrics, type MetricTable } from '@kube-semaphore/runtime';
import { metrics as serviceMirror } from '@kube-semaphore/service-mirror/metrics';
import { metrics as wireguard } from '@kube-semaphore/wireguard/metrics';

/** The labels of a series, with their values if all are known. */
export type Labels = Readonly<Record<string, readonly string[] | undefined>>;

/** Series by name, with their labels. */
export type Exported = ReadonlyMap<string, Labels>;

/** The tables of all apps. */
export const tables = {
  'semaphore-policy': policy,
  'semaphore-service-mirror': serviceMirror,
  'semaphore-wireguard': wireguard,
} as const satisfies Readonly<Record<string, MetricTable>>;

/** Labels that a scrape adds to every series. */
export const targetLabels: readonly string[] = ['job', 'instance', 'namespace', 'pod', 'node'];

/** Series that Prometheus makes from alerts. */
const ALERTS: Labels = {
  alertname: undefined,
  alertstate: ['pending', 'firing'],
  severity: ['critical', 'warning'],
  app: Object.keys(tables),
};

/** The series of a metric: a histogram has three, and none under its own name. */
export function seriesOf(table: MetricTable): Exported {
  return new Map(
    Object.values(table).flatMap(({ name, type, labels }): (readonly [string, Labels])[] => {
      const known: Labels = Object.fromEntries(Object.entries(labels).map(([label, { values }]) => [label, values]));
      if (type !== 'histogram') return [[name, known]];
      return [
        [`${name}_bucket`, { ...known, le: undefined }],
        [`${name}_sum`, known],
        [`${name}_count`, known],
      ];
    }),
  );
}

/** All series for dashboards: of the apps, of every Node.js process, and of alerts. */
export async function exportedSeries(): Promise<Exported> {
  const { registry } = createMetrics({});
  addProcessMetrics(registry);
  const ofProcess = (await registry.getMetricsAsJSON()).map(({ name }): readonly [string, Labels] => [name, {}]);
  return new Map([...Object.values(tables).flatMap((table) => [...seriesOf(table)]), ...ofProcess, ['ALERTS', ALERTS]]);
}
