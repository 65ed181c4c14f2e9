import { isDnsLabel } from '@kube-semaphore/naming';
import { oneOf } from '@kube-semaphore/options';
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
};

const placement = oneOf(['namespace', 'mirrorNamespace']);

/** Whether a namespace may have imports. Those of Kubernetes have to be named: a remote could take names in them. */
export const isAllowedNamespace = ({ namespaces }: Pick<McsSettings, 'namespaces'>, name: string): boolean =>
  namespaces === undefined ? name !== 'default' && !name.startsWith('kube-') : namespaces.includes(name);

/** The section of a file. @param clusters the names of all clusters, as far as they are set */
export function mcsOf(
  section: McsSection,
  { clusters, findings }: { readonly clusters: readonly (string | undefined)[]; readonly findings: Findings },
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
  return {
    derivedServices: findings.check('mcs.derivedServices', placement.parse(derivedServices), 'namespace'),
    namespaces,
    exportedLabelPrefixes,
  };
}
