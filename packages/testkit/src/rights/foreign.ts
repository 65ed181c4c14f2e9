import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import type { Grant } from './manifests.ts';
import { type Right, rightsIn } from './used.ts';

/** A foreign object, and the API path and plural of its kind: `/apis/discovery.k8s.io/v1`, `endpointslices`. */
export type Foreign = { readonly root: string; readonly plural: string; readonly object: KubeObject };

/** The account's clients, and foreign objects by resource, as in rights: `endpointslices.discovery.k8s.io`. */
export type ForeignOptions = {
  readonly admin: TestClient;
  /** A client with the account's token. */
  readonly account: TestClient;
  readonly grants: readonly Grant[];
  readonly foreign: Readonly<Record<string, Foreign>>;
};

const WRITES = ['create', 'update', 'patch', 'delete'];

/**
 * Tries each of an account's rights to write on a foreign object in the same namespace.
 *
 * @returns the rights that changed or created a foreign object, and the refusal of each other right
 * @throws {Error} if `foreign` lacks a kind that there is a right to
 */
export async function foreignWrites({
  admin,
  account,
  grants,
  foreign,
}: ForeignOptions): Promise<{ readonly done: readonly Right[]; readonly refused: Readonly<Record<Right, string>> }> {
  const done: Right[] = [];
  const refused: Record<Right, string> = {};
  for (const right of rightsIn(grants).filter((each) => WRITES.includes(each.split(' ')[0]!))) {
    const [verb = '', resource = '', , namespace] = right.split(' ');
    const kind = foreign[resource];
    if (kind === undefined) throw new Error(`no foreign object for the right to ${right}`);
    const { status, body } = await attempt(verb, { admin, account, kind, namespace });
    if (status < 400) done.push(right);
    else refused[right] = `${status} ${String(body['message'])}`;
  }
  return { done, refused };
}

type Attempt = Pick<ForeignOptions, 'admin' | 'account'> & {
  readonly kind: Foreign;
  readonly namespace: string | undefined;
};

async function attempt(
  verb: string,
  { admin, account, kind: { root, plural, object }, namespace }: Attempt,
): ReturnType<TestClient['request']> {
  const all = `${root}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`;
  const one = `${all}/${object.metadata.name}`;
  if (verb === 'create')
    return account.request('POST', all, {
      ...object,
      metadata: { ...object.metadata, name: `new-${object.metadata.name}` },
    });
  if ((await admin.request('GET', one)).status === 404) await admin.create(all, object);
  const before = await admin.get(one);
  const changed = { metadata: { labels: { ...before.metadata.labels, changed: 'true' } } };
  if (verb === 'update')
    return account.request('PUT', one, { ...before, metadata: { ...before.metadata, ...changed.metadata } });
  return verb === 'patch' ? account.request('PATCH', one, changed) : account.request('DELETE', one);
}
