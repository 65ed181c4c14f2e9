import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import type { Grant } from './manifests.ts';
import { type Right, rightsIn } from './used.ts';

/** Somebody else's object of a kind, and where such are: `/apis/discovery.k8s.io/v1` and `endpointslices`. */
export type Foreign = { readonly root: string; readonly plural: string; readonly object: KubeObject };

/** Who asks, and what of others there is: by resource as rights have it, `endpointslices.discovery.k8s.io`. */
export type ForeignOptions = {
  readonly admin: TestClient;
  /** With a token of the account. */
  readonly account: TestClient;
  readonly grants: readonly Grant[];
  readonly foreign: Readonly<Record<string, Foreign>>;
};

const WRITES = ['create', 'update', 'patch', 'delete'];

/**
 * Tries each right to write that an account was given on an object of somebody else, which is made in the same namespace.
 *
 * @returns the rights that changed such an object, or made one, and why each other one didn't, by right
 * @throws {Error} where there is a right to a kind that `foreign` lacks
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
