import { Codec, type Kind, type KubeObject, resourcePath } from '@kube-semaphore/kube-objects';
import type { Context } from './contexts.ts';
import { failureOf } from './failure.ts';
import { get, RequestError } from './request.ts';

/** What was read, or why it could not be. Undefined inside is known: there is no such object. */
export type Read<T> = { readonly known: true; readonly value: T } | { readonly known: false; readonly why: string };

/** All of them, or why the first is not known. */
export function allOf<T extends Readonly<Record<string, Read<unknown>>>>(
  reads: T,
): Read<{ readonly [K in keyof T]: Extract<T[K], { readonly known: true }>['value'] }> {
  const value: Record<string, unknown> = {};
  for (const [key, read] of Object.entries(reads)) {
    if (!read.known) return read;
    value[key] = read.value;
  }
  return { known: true, value: value as { [K in keyof T]: Extract<T[K], { readonly known: true }>['value'] } };
}

export type Run = { readonly signal: AbortSignal };

/** Undefined if there is no such object, or no such kind. */
export async function readObject<K extends Kind>(
  context: Context,
  kind: K,
  at: { readonly namespace?: string; readonly name: string },
  run: Run,
): Promise<Read<KubeObject<K> | undefined>> {
  const read = await request(context, resourcePath(kind, at), run);
  if (!read.known || read.value === undefined) return read as Read<undefined>;
  return decoded(context, kind, () => new Codec(kind).objectFromJson(read.value));
}

/** A missing kind has no objects. */
export async function listObjects<K extends Kind>(
  context: Context,
  kind: K,
  { namespace, labelSelector }: { readonly namespace?: string; readonly labelSelector?: string },
  run: Run,
): Promise<Read<readonly KubeObject<K>[]>> {
  const found: KubeObject<K>[] = [];
  const query = new URLSearchParams({ limit: '500', ...(labelSelector === undefined ? {} : { labelSelector }) });
  do {
    const read = await request(context, `${resourcePath(kind, { namespace })}?${query.toString()}`, run);
    if (!read.known) return read;
    if (read.value === undefined) break;
    const page = decoded(context, kind, () => new Codec(kind).pageFromJson(read.value));
    if (!page.known) return page;
    found.push(...page.value.items);
    query.set('continue', page.value.continue);
  } while (query.get('continue') !== '');
  return { known: true, value: found };
}

function decoded<T>({ name }: Context, { plural }: Kind, decode: () => T): Read<T> {
  try {
    return { known: true, value: decode() };
  } catch (error) {
    return { known: false, why: `${name}: ${plural} can't be read: ${(error as Error).message}` };
  }
}

const TIMEOUT_MS = 10_000;

/** Undefined if there is no such object, or no such kind. */
export async function request(context: Context, path: string, { signal }: Run): Promise<Read<unknown>> {
  try {
    return { known: true, value: JSON.parse(await get(context, path, { signal, timeoutMs: TIMEOUT_MS })) as unknown };
  } catch (error) {
    signal.throwIfAborted();
    const failure = error instanceof RequestError ? error : new RequestError((error as Error).message);
    if (failure.status === 404) return { known: true, value: undefined };
    return { known: false, why: failureOf(context, failure) };
  }
}
