import {
  type ClusterOrder,
  orderText,
  parseClusterOrder,
  propertyProblem,
} from '../endpoints/desired/routing/order.ts';
import type { ClusterProperties } from '../endpoints/desired/routing/levels.ts';
import type { GlobalSection } from './file.ts';
import type { Findings } from './problems.ts';

/** The orders of clusters in the config, by `namespace/name`, or by `*` for all other Services. */
export type OrderSettings = ReadonlyMap<string, ClusterOrder>;

const ALL = '*';

/** The order of a Service in the config; undefined if it has none there. */
export const orderFor = (
  orders: OrderSettings,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): ClusterOrder | undefined => orders.get(`${namespace}/${name}`) ?? orders.get(ALL);

/** As the file has them, for people. */
export const orderTexts = (orders: OrderSettings): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(orders, ([service, order]) => [service, orderText(order)]));

/** A field of the file: an order for all Services, or orders by `namespace/name`. */
export function clusterOrdersOf(field: GlobalSection['clusterOrder'], at: string, findings: Findings): OrderSettings {
  const fields = typeof field === 'string' ? { [ALL]: field } : (field ?? {});
  const orders = new Map<string, ClusterOrder>();
  for (const [service, text] of Object.entries(fields)) {
    const place = typeof field === 'string' ? at : `${at}[${JSON.stringify(service)}]`;
    if (service !== ALL && !/^[^/]+\/[^/]+$/.test(service))
      findings.problems.push(`${place}: it must be for "*", or for a Service as "namespace/name"`);
    const order = findings.check(place, parseClusterOrder(text), undefined);
    if (order !== undefined) orders.set(service, order);
  }
  return orders;
}

/** The `properties` of a cluster in the file. */
export function propertiesOf(
  fields: Readonly<Record<string, string>> | undefined,
  at: string,
  findings: Findings,
): ClusterProperties {
  const properties = new Map(Object.entries(fields ?? {}));
  for (const [property, value] of properties) {
    const problem = propertyProblem(property, value);
    if (problem !== undefined) findings.problems.push(`${at}[${JSON.stringify(property)}]: it ${problem}`);
  }
  return properties;
}
