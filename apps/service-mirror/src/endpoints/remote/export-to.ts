import type { Diagnostic } from '@kube-semaphore/multicluster';
import { quoted } from '@kube-semaphore/text';
import { exportToAnnotation } from '../../names.ts';
import type { ClusterProperties } from '../desired/routing/levels.ts';

/** The local cluster, as others may name it. */
export type Importer = {
  /** Undefined if the config has none. */
  readonly name: string | undefined;
  readonly properties: ClusterProperties;
};

/**
 * Why the local cluster doesn't use a remote Service or ServiceExport: its annotation names the clusters that should, by
 * name, by `property=value`, or all by `*`. Undefined if it is for the local cluster, too. Without the annotation, it is for all.
 */
export function notExportedTo(
  { annotations }: { readonly annotations: Readonly<Record<string, string>> },
  importer: Importer | undefined,
): Diagnostic | undefined {
  const list = annotations[exportToAnnotation];
  if (list === undefined || importer === undefined) return undefined;
  const isFor = list.split(',').some((each) => isNamed(each.trim(), importer));
  if (isFor) return undefined;
  const { name = 'without a name' } = importer;
  const detail = `it is exported to ${quoted(list)}, and this cluster is ${name}`;
  return { kind: 'expected', reason: 'not-exported-to-us', detail };
}

function isNamed(entry: string, { name, properties }: Importer): boolean {
  const equals = entry.indexOf('=');
  if (equals === -1) return entry === '*' || (entry !== '' && entry === name);
  return properties.get(entry.slice(0, equals).trim()) === entry.slice(equals + 1).trim();
}
