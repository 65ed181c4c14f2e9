import { Codec, type Kind, type KubeObject, nodeKind, PageGuard, resourcePath } from '@kube-semaphore/kube-objects';
import * as z from 'zod/mini';
import { type Context, inTime } from './contexts.ts';
import { failureOf } from './failure.ts';
import { ask, RequestError, type Sent } from './request.ts';

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

/** How many requests lists may still take. `isSpent`: some objects were not read. */
type ListBudget = { requests: number; isSpent: boolean };

type Selection = {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string;
  /** Default: no limit. Then the list may be a part of the objects. */
  readonly budget?: ListBudget;
};

/** A missing kind has no objects. */
export async function listObjects<K extends Kind>(
  context: Context,
  kind: K,
  { namespace, labelSelector, budget }: Selection,
  run: Run,
): Promise<Read<readonly KubeObject<K>[]>> {
  const query = new URLSearchParams({ limit: `${PAGE}`, ...(labelSelector === undefined ? {} : { labelSelector }) });
  return allPages(context, kind, async (from, token) => {
    if (budget !== undefined && (budget.requests -= 1) < 0) {
      budget.isSpent = true;
      return { known: true, value: undefined };
    }
    query.set('continue', token);
    const read = await request(from, `${resourcePath(kind, { namespace })}?${query.toString()}`, run);
    if (!read.known || read.value === undefined) return read as Read<undefined>;
    return decoded(context, kind, () => new Codec(kind).pageFromJson(read.value));
  });
}

/** How many objects a page has. */
export const PAGE = 500;

/**
 * Reads a list page by page, as long as `inTime` lets it take: a server that always has one more page takes for ever.
 *
 * @param readPage the page after a token, of which the first is empty; undefined: there is no such kind
 */
export async function allPages<T>(
  context: Context,
  { plural }: Pick<Kind, 'plural'>,
  readPage: (
    from: Context,
    token: string,
  ) => Promise<Read<{ readonly items: readonly T[]; readonly continue: string } | undefined>>,
): Promise<Read<readonly T[]>> {
  const found: T[] = [];
  const guard = new PageGuard();
  const from = inTime(context);
  let token = '';
  do {
    const page = await readPage(from, token);
    if (!page.known) return page;
    if (page.value === undefined) break;
    const { items } = page.value;
    found.push(...items);
    token = page.value.continue;
    const checked = decoded(context, { plural }, () => {
      guard.checkTotal(found.length);
      guard.endPage({ count: items.length, limit: PAGE });
    });
    if (!checked.known) return checked;
  } while (token !== '');
  return { known: true, value: found };
}

/** What `decode` returns, or why it throws. */
export function decoded<T>({ name }: Context, { plural }: Pick<Kind, 'plural'>, decode: () => T): Read<T> {
  try {
    return { known: true, value: decode() };
  } catch (error) {
    return { known: false, why: `${name}: ${plural} can't be read: ${(error as Error).message}` };
  }
}

const TIMEOUT_MS = 10_000;

/** The JSON of a path; undefined if there is no such object, or no such kind. */
export const request = (
  context: Context,
  path: string,
  run: Run,
  sent: Omit<Sent, 'path'> = {},
): Promise<Read<unknown>> =>
  known(context, run, async () => {
    try {
      return JSON.parse((await ask(context, { ...sent, path }, { ...run, timeoutMs: TIMEOUT_MS })).body) as unknown;
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return undefined;
      throw error;
    }
  });

/** The same, as a schema reads it. */
export async function readAs<T>(
  context: Context,
  path: string,
  schema: z.ZodMiniType<T>,
  run: Run,
  sent: Omit<Sent, 'path'> = {},
): Promise<Read<T | undefined>> {
  const read = await request(context, path, run, sent);
  if (!read.known || read.value === undefined) return read as Read<undefined>;
  const { data, error } = schema.safeParse(read.value);
  if (error === undefined) return { known: true, value: data };
  const [issue] = error.issues;
  return { known: false, why: `${context.name}: the answer to ${path} is not valid: ${issue?.path.join('.')}` };
}

/** What `read` resolves with, or why it fails. Rejects only when the signal is aborted. */
export async function known<T>(context: Context, { signal }: Run, read: () => Promise<T>): Promise<Read<T>> {
  try {
    return { known: true, value: await read() };
  } catch (error) {
    signal.throwIfAborted();
    const failure = error instanceof RequestError ? error : new RequestError((error as Error).message);
    return { known: false, why: failureOf(context, failure) };
  }
}

/** @throws {Error} why it is not known */
export function valueOf<T>(read: Read<T>): T {
  if (read.known) return read.value;
  throw new Error(read.why);
}

/** What follows from a value, if that is known. */
export const mapRead = <T, U>(read: Read<T>, next: (value: T) => U): Read<U> =>
  read.known ? { known: true, value: next(read.value) } : read;

const groupList = z.object({ groups: z.array(z.object({ name: z.string() })) });

/** The names of the API groups. */
export async function readGroups(context: Context, run: Run): Promise<Read<ReadonlySet<string>>> {
  return mapRead(await readAs(context, '/apis', groupList, run), (all) => new Set(all?.groups.map(({ name }) => name)));
}

/** Begins to ask for them, once for all reads that need them. */
export function withGroups(context: Context, run: Run) {
  const groups = readGroups(context, run);
  return async <T>(read: (found: ReadonlySet<string>) => Promise<Read<T>>): Promise<Read<T>> => {
    const found = await groups;
    return found.known ? read(found.value) : found;
  };
}

/** @param name `namespace/name` */
export function configMapPath(name: string): string {
  const [namespace, own] = name.split('/');
  return `/api/v1/namespaces/${namespace}/configmaps/${own}`;
}

const configMap = z.object({
  data: z.nullish(z.record(z.string(), z.string())),
});

/** One key of a ConfigMap; undefined without it. */
export async function readConfigMap(
  context: Context,
  name: string,
  key: string,
  run: Run,
): Promise<Read<string | undefined>> {
  return mapRead(await readAs(context, configMapPath(name), configMap, run), (found) => found?.data?.[key]);
}

/** A Node, as far as pod addresses and tunnels need it. */
export type NodeFacts = {
  readonly name: string;
  readonly podCidrs: readonly string[];
  readonly addresses: readonly string[];
  /** Those of its addresses that tunnels may end at. */
  readonly internalIps: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
};

export async function readNodes(context: Context, run: Run): Promise<Read<readonly NodeFacts[]>> {
  return mapRead(await listObjects(context, nodeKind, {}, run), (nodes) =>
    nodes.map(({ metadata: { name, annotations }, spec: { podCIDR, podCIDRs }, status }) => ({
      name,
      podCidrs: podCIDRs.length > 0 || podCIDR === '' ? podCIDRs : [podCIDR],
      addresses: status.addresses.map(({ address }) => address),
      internalIps: status.addresses.flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : [])),
      annotations,
    })),
  );
}
