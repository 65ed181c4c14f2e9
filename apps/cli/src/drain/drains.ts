import { configMapKind, resourcePath } from '@kube-semaphore/kube-objects';
import { drainsName } from '@kube-semaphore/service-mirror/names';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { readAs, type Run } from '../clusters/objects.ts';
import { dryRunOf, send, type Writing } from '../clusters/send.ts';

/** What a drain says besides its cluster. */
export type DrainDetails = { readonly since: string; readonly by: string; readonly reason?: string | undefined };

/** A key of the ConfigMap. `details`: undefined ends the drain. */
export type DrainWrite = {
  readonly namespace: string;
  readonly cluster: string;
  readonly details: DrainDetails | undefined;
  /** The API server does all but store it. */
  readonly dryRun: boolean;
};

/**
 * Writes one key of the ConfigMap with the drains, which is created with the first one. Keys of other clusters stay.
 *
 * @throws Error with a sentence for the user
 */
export async function writeDrain(
  context: Context,
  { namespace, cluster, details, dryRun }: DrainWrite,
  { signal }: Run,
): Promise<void> {
  const what = `ConfigMap ${namespace}/${drainsName}`;
  const query = new URLSearchParams({ fieldManager: 'semaphore-drain', ...dryRunOf(dryRun) });
  const value = details === undefined ? null : JSON.stringify(details);
  const patch = {
    what,
    method: 'PATCH',
    path: `${resourcePath(configMapKind, { namespace, name: drainsName })}?${query.toString()}`,
    body: { data: { [cluster]: value } },
    contentType: 'application/merge-patch+json',
  } satisfies Writing;
  if ((await send(context, patch, signal)) !== undefined || value === null) return;
  const metadata = { namespace, name: drainsName };
  const create = {
    what,
    path: `${resourcePath(configMapKind, { namespace })}?${query.toString()}`,
    body: { apiVersion: 'v1', kind: configMapKind.kind, metadata, data: { [cluster]: value } },
  } satisfies Writing;
  const created = await send(context, create, signal);
  if (created === undefined) throw new Error(`${context.name}: there is no namespace ${namespace}`);
}

const review = z.object({ status: z.object({ userInfo: z.object({ username: z.string() }) }) });

/** Who we are to the API server; before Kubernetes 1.28, what the kubeconfig calls the user. */
export async function whoAmI(context: Context, run: Run): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const read = await readAs(context, '/apis/authentication.k8s.io/v1/selfsubjectreviews', review, run, { body });
  return (read.known ? read.value?.status.userInfo.username : undefined) ?? context.actsAs ?? context.user;
}
