import { resourcePath } from '@kube-semaphore/kube-objects';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { allPages, mapRead, PAGE, readAs, request, type Run, valueOf } from '../clusters/objects.ts';
import { MANAGER } from '../link/apply/api.ts';

/** An object in a cluster, as far as it matters who wrote it. */
export type Stored = {
  /** As `nameOf`. */
  readonly name: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly path: string;
  readonly uid: string;
  /** Whether `semaphore link` applied it. */
  readonly isOurs: boolean;
  /** Besides `semaphore link` and what Kubernetes itself writes, some program manages it. */
  readonly hasOtherManager: boolean;
  /** Kubernetes deletes it with its owner, or is about to delete it. */
  readonly goes: boolean;
};

/** Without specs and data: the list of Secrets has no credentials. */
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

const metadataList = z.object({
  metadata: z.object({ continue: z.optional(z.string()) }),
  items: z.nullish(
    z.array(
      z.object({
        metadata: z.object({
          name: z.string(),
          namespace: z.optional(z.string()),
          uid: z.string(),
          deletionTimestamp: z.optional(z.string()),
          ownerReferences: z.optional(z.array(z.unknown())),
          managedFields: z.optional(z.array(z.object({ manager: z.optional(z.string()), operation: z.string() }))),
        }),
      }),
    ),
  ),
});

export type Resource = {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
};

/** All objects of a resource; none if the cluster doesn't have it. @throws {Error} if they can't be read */
export async function storedOf(
  context: Context,
  resource: Resource,
  run: Run,
  namespace?: string,
): Promise<readonly Stored[]> {
  const kind = { ...resource, protobuf: false, fields: {} } as never;
  const read = await allPages(context, resource, async (from, token) => {
    const path = `${resourcePath(kind, { namespace })}?limit=${PAGE}&continue=${encodeURIComponent(token)}`;
    return mapRead(
      await readAs(from, path, metadataList, run, { accept: METADATA }),
      (page) => page && { items: page.items ?? [], continue: page.metadata.continue ?? '' },
    );
  });
  return valueOf(read).map(({ metadata }): Stored => {
    const { name, uid, managedFields = [] } = metadata;
    const place = { namespace: metadata.namespace, name };
    return {
      name: `${resource.kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${name}`,
      kind: resource.kind,
      namespace: metadata.namespace,
      path: resourcePath(kind, place),
      uid,
      isOurs: managedFields.some(({ manager, operation }) => manager === MANAGER && operation === 'Apply'),
      hasOtherManager: managedFields.some(({ manager = '' }) => manager !== MANAGER && !manager.startsWith('kube-')),
      goes: metadata.deletionTimestamp !== undefined || (metadata.ownerReferences ?? []).length > 0,
    };
  });
}

/** Deletes an object, unless it is gone or another one has its name. @throws {Error} */
export async function remove(context: Context, { path, uid }: Stored, run: Run): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } };
  valueOf(await request(context, path, run, { method: 'DELETE', body }));
}

/** Any object of a kind of deploy/service-mirror/mcs: it would go with its kind. @param definition as `nameOf` */
export async function userOf(context: Context, definition: string, run: Run): Promise<string | undefined> {
  const plural = definition.replace(/^.* |\..*$/g, '');
  const kind = plural === 'serviceexports' ? 'ServiceExport' : 'ServiceImport';
  const [any] = await storedOf(context, { group: 'multicluster.x-k8s.io', version: 'v1beta1', kind, plural }, run);
  return any?.name;
}

const groupList = z.object({
  groups: z.array(z.object({ name: z.string(), preferredVersion: z.object({ version: z.string() }) })),
});
const resourceList = z.object({
  resources: z.array(
    z.object({ name: z.string(), kind: z.string(), namespaced: z.boolean(), verbs: z.array(z.string()) }),
  ),
});

/** What every namespace has, or Kubernetes derives from other objects. */
const DERIVED = /^(?:ConfigMap .*\/kube-root-ca\.crt|ServiceAccount .*\/default|(?:Event|Endpoints|PodMetrics) .*)$/;

/** An object in a namespace that is neither ours nor derived. @param isOurs of names */
export async function strangerIn(
  context: Context,
  namespace: string,
  isOurs: (name: string) => boolean,
  run: Run,
): Promise<string | undefined> {
  const groups = valueOf(await readAs(context, '/apis', groupList, run))?.groups ?? [];
  const roots = groups.map(({ name, preferredVersion: { version } }) => ({ group: name, version }));
  for (const { group, version } of [{ group: '', version: 'v1' }, ...roots]) {
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const resources = valueOf(await readAs(context, path, resourceList, run))?.resources ?? [];
    for (const { name: plural, kind } of resources.filter((each) => each.namespaced && each.verbs.includes('list'))) {
      const stored = await storedOf(context, { group, version, kind, plural }, run, namespace);
      const stranger = stored.find(
        ({ name, goes, ...each }) => !goes && !each.isOurs && !DERIVED.test(name) && !isOurs(name),
      );
      if (stranger !== undefined) return stranger.name;
    }
  }
  return undefined;
}
