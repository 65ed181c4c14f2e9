import { isDeepStrictEqual } from 'node:util';
import { apiVersion, Codec, resourcePath, type ServiceExport, serviceExportKind } from '@kube-semaphore/kube-objects';
import { printable } from '@kube-semaphore/text';
import type { Context } from '../clusters/contexts.ts';
import { decoded, readObject, valueOf } from '../clusters/objects.ts';
import { dryRunOf, send } from '../clusters/send.ts';

/** What became of a ServiceExport. `absent`: there was none to remove. */
export type Written = 'created' | 'changed' | 'unchanged' | 'removed' | 'absent';

/** A Service to export. */
export type ServiceAt = { readonly namespace: string; readonly name: string };

/** How to write. */
export type Writing = {
  readonly spec: Pick<ServiceExport['spec'], 'exportedLabels' | 'exportedAnnotations'>;
  /** The API server does all but store it. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
};

/** How to apply the kinds. */
export const APPLY_KINDS = 'kubectl apply --server-side -k deploy/service-mirror/mcs';

/** Exports a Service by server-side apply. @throws Error with a sentence for the user */
export async function applyExport(
  context: Context,
  { namespace, name }: ServiceAt,
  { spec, dryRun, signal }: Writing,
): Promise<Written> {
  const at = { namespace, name };
  const before = await readObject(context, serviceExportKind, at, { signal });
  if (!before.known) throw new Error(before.why);
  const query = new URLSearchParams({ fieldManager: 'semaphore-export', force: 'true', ...dryRunOf(dryRun) });
  const body = { apiVersion: apiVersion(serviceExportKind), kind: serviceExportKind.kind, metadata: at, spec };
  const answer = await send(
    context,
    {
      what: whatOf(at),
      method: 'PATCH',
      path: `${pathOf(at)}?${query.toString()}`,
      body,
      contentType: 'application/apply-patch+yaml',
    },
    signal,
  );
  if (answer === undefined)
    throw new Error(printable(`${context.name}: the cluster has no ServiceExports: ${APPLY_KINDS}`));
  if (before.value === undefined) return 'created';
  const after = decoded(context, serviceExportKind, () =>
    new Codec(serviceExportKind).objectFromJson(JSON.parse(answer)),
  );
  return isDeepStrictEqual(valueOf(after).spec, before.value.spec) ? 'unchanged' : 'changed';
}

/** Removes the ServiceExport of a Service. @throws Error with a sentence for the user */
export async function removeExport(
  context: Context,
  at: ServiceAt,
  { dryRun, signal }: Omit<Writing, 'spec'>,
): Promise<Written> {
  const path = `${pathOf(at)}?${new URLSearchParams(dryRunOf(dryRun)).toString()}`;
  const sent = { what: whatOf(at), method: 'DELETE', path } as const;
  return (await send(context, sent, signal)) === undefined ? 'absent' : 'removed';
}

const pathOf = (at: ServiceAt): string => resourcePath(serviceExportKind, at);

const whatOf = ({ namespace, name }: ServiceAt): string => `ServiceExport ${namespace}/${name}`;
