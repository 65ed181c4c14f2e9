import { isDeepStrictEqual } from 'node:util';
import { apiVersion, Codec, resourcePath, type ServiceExport, serviceExportKind } from '@kube-semaphore/kube-objects';
import { printable } from '@kube-semaphore/text';
import type { Context } from '../clusters/contexts.ts';
import { failureOf } from '../clusters/failure.ts';
import { decoded, readObject, valueOf } from '../clusters/objects.ts';
import { ask, RequestError, type Sent } from '../clusters/request.ts';

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

const TIMEOUT_MS = 10_000;

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
    at,
    { method: 'PATCH', path: `${pathOf(at)}?${query.toString()}`, body, contentType: 'application/apply-patch+yaml' },
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
  return (await send(context, at, { method: 'DELETE', path }, signal)) === undefined ? 'absent' : 'removed';
}

const pathOf = (at: ServiceAt): string => resourcePath(serviceExportKind, at);

const dryRunOf = (dryRun: boolean): Record<string, string> => (dryRun ? { dryRun: 'All' } : {});

/** Undefined if there is no such object, or no such kind. */
async function send(
  context: Context,
  { namespace, name }: ServiceAt,
  request: Sent,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await ask(context, request, { signal, timeoutMs: TIMEOUT_MS })).body;
  } catch (cause) {
    if (!(cause instanceof RequestError)) throw cause;
    const { status, message } = cause;
    if (status === 404) return undefined;
    const isRefusal = status !== undefined && status !== 401 && status !== 403;
    const words = `${context.name}: the API server refuses ServiceExport ${namespace}/${name}: ${message} (${status})`;
    throw new Error(isRefusal ? printable(words) : failureOf(context, cause), { cause });
  }
}
