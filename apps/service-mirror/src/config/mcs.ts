import { isDnsLabel } from '@kube-semaphore/naming';
import { oneOf } from '@kube-semaphore/options';
import { takesImportNames } from '../names.ts';
import { clusterOrdersOf, type OrderSettings } from './cluster-order.ts';
import type { McsSection } from './file.ts';
import { namespace } from './option-types.ts';
import type { Findings } from './problems.ts';

/** Multi-Cluster Services: which exports become ServiceImports, and where. */
export type McsSettings = {
  /** Where the Services with the imports' addresses are: beside the imports, or in the mirror namespace. */
  readonly derivedServices: 'namespace' | 'mirrorNamespace';
  /** The namespaces with imports; undefined: all but `default` and those of Kubernetes. */
  readonly namespaces: readonly string[] | undefined;
  /** Beginnings of exported labels and annotations that imports may have; undefined: all that aren't reserved. */
  readonly exportedLabelPrefixes: readonly string[] | undefined;
  /** Whether imports with an address that have no order prefer local endpoints. */
  readonly localFirst: boolean;
  /** Which clusters answer; these overrule the exports' own orders. */
  readonly clusterOrder: OrderSettings;
};

const placement = oneOf(['namespace', 'mirrorNamespace']);

/** The section of a file. @param clusters the names of all clusters, as far as they are set. @param prefixes of the remotes */
export function mcsOf(
  section: McsSection,
  {
    clusters,
    prefixes,
    findings,
  }: {
    readonly clusters: readonly (string | undefined)[];
    readonly prefixes: readonly string[];
    readonly findings: Findings;
  },
): McsSettings {
  const { derivedServices = 'namespace', namespaces, exportedLabelPrefixes } = section;
  if (namespaces?.length === 0) findings.problems.push('mcs.namespaces: must name at least one namespace');
  for (const [i, name] of (namespaces ?? []).entries())
    findings.check(`mcs.namespaces[${i}]`, namespace.parse(name), '');
  for (const [i, prefix] of (exportedLabelPrefixes ?? []).entries())
    if (!/^[A-Za-z0-9][-A-Za-z0-9_./]*$/.test(prefix))
      findings.problems.push(
        `mcs.exportedLabelPrefixes[${i}]: ${JSON.stringify(prefix)} can't begin the key of a label`,
      );
  for (const name of clusters)
    if (name !== undefined && name !== '' && !isDnsLabel(name))
      findings.problems.push(`mcs: the cluster name ${name} must be a DNS label, as names of endpoints contain it`);
  if (derivedServices === 'mirrorNamespace')
    for (const prefix of prefixes.filter(takesImportNames))
      findings.problems.push(
        `remoteClusters: servicePrefix ${prefix} is reserved for Services of imports with mcs.derivedServices: mirrorNamespace`,
      );
  return {
    derivedServices: findings.check('mcs.derivedServices', placement.parse(derivedServices), 'namespace'),
    namespaces,
    exportedLabelPrefixes,
    localFirst: section.localFirst ?? false,
    clusterOrder: clusterOrdersOf(section.clusterOrder, 'mcs.clusterOrder', findings),
  };
}
