import { isStatus, type KubeClient, type WriteOptions } from '@kube-semaphore/kube-client';
import {
  apiVersion,
  Codec,
  type Condition,
  type EndpointSlice,
  endpointSliceKind,
  type Kind,
  type Service,
  type ServiceExport,
  type ServiceImport,
  serviceExportKind,
  serviceImportKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { marksOf } from '../../endpoints/desired/diff/marks.ts';
import { type ImportChange, type ImportPlace, namespaceOf } from '../desired/changes.ts';
import { isOfHeadless } from '../desired/slices.ts';
import type { DerivedService, DesiredImport, ImportSpec } from '../desired/objects.ts';
import type { ObservedDerived, ObservedImport } from '../desired/observed.ts';
import type { Identity } from '../../endpoints/desired/observed.ts';
import { writtenService, writtenSlice } from '../../endpoints/local/written.ts';

const services = new Codec(serviceKind);
const slices = new Codec(endpointSliceKind);
const imports = new Codec(serviceImportKind);
const exports = new Codec(serviceExportKind);

/** The answer to a write; undefined after a deletion. */
export type WrittenObject =
  | { readonly kind: 'derived'; readonly object: Service }
  | { readonly kind: 'slice'; readonly object: EndpointSlice }
  | { readonly kind: 'import'; readonly object: ServiceImport }
  | undefined;

/**
 * Writes the objects of ServiceImports, one request each. Updates and deletes have the observed version as a precondition: 409
 * on a newer one. Deleting an object that is already gone succeeds.
 */
export class ImportWriter {
  readonly #client: KubeClient;

  constructor(client: KubeClient) {
    this.#client = client;
  }

  async write(change: ImportChange, place: ImportPlace, options: WriteOptions): Promise<WrittenObject> {
    const namespace = namespaceOf(change, place);
    switch (change.kind) {
      case 'create-derived':
        return this.#derived(change.to, undefined, place, options);
      case 'update-derived':
        return this.#derived(change.to, change.from, place, options);
      case 'create-import':
        return this.#import(change.to, undefined, place, options);
      case 'update-import':
        return this.#import(change.to, change.from, place, options);
      case 'update-import-status': {
        const { clusters, conditions, sliceObjects: endpointSliceObjects } = change.to;
        const status = { clusters: clusters.map((cluster) => ({ cluster })), conditions, endpointSliceObjects };
        const object = await this.#patchStatus(imports, change.from, status, { ...options, namespace });
        return { kind: 'import', object };
      }
      case 'create-slice':
      case 'update-slice': {
        const kind = isOfHeadless(change.to)
          ? { apiVersion: apiVersion(serviceImportKind), kind: 'ServiceImport' }
          : SERVICE;
        const owned = { namespace, owner: change.owner && { ...kind, ...change.owner } };
        const object =
          change.kind === 'create-slice'
            ? await this.#client.create(slices, writtenSlice(change.to, undefined, owned), options)
            : await this.#client.update(slices, writtenSlice(change.to, change.from, owned), options);
        return { kind: 'slice', object };
      }
      case 'delete-derived':
        return this.#delete(services, change.from, namespace, options);
      case 'delete-slice':
        return this.#delete(slices, change.from, namespace, options);
      case 'delete-import':
        return this.#delete(imports, change.from, namespace, options);
    }
  }

  /** Replaces the conditions of a ServiceExport of the local cluster. */
  async writeConditions(
    from: Identity,
    conditions: readonly Condition[],
    options: WriteOptions & { readonly namespace: string },
  ): Promise<ServiceExport> {
    return this.#patchStatus(exports, from, { conditions }, options);
  }

  async #derived(
    to: DerivedService,
    from: ObservedDerived | undefined,
    { derivedNamespace }: ImportPlace,
    options: WriteOptions,
  ): Promise<WrittenObject> {
    const { spec, ...rest } = writtenService(to, from, derivedNamespace);
    const body = { ...rest, spec: { ...spec, internalTrafficPolicy: to.internalTrafficPolicy } };
    const object = await (from === undefined
      ? this.#client.create(services, body, options)
      : this.#client.update(services, body, options));
    return { kind: 'derived', object };
  }

  async #import(
    to: DesiredImport,
    from: ObservedImport | undefined,
    { namespace }: ImportPlace,
    options: WriteOptions,
  ): Promise<WrittenObject> {
    const retained = from && {
      uid: from.uid,
      resourceVersion: from.resourceVersion,
      ownerReferences: from.ownerReferences,
      finalizers: from.finalizers,
    };
    const metadata = { namespace, name: to.name, ...marksOf(from, to), ...retained };
    const body = { metadata, spec: writtenSpec(to.spec) };
    const object = await (from === undefined
      ? this.#client.create(imports, body, options)
      : this.#client.update(imports, body, options));
    return { kind: 'import', object };
  }

  #patchStatus<K extends Kind>(
    codec: Codec<K>,
    { name, uid, resourceVersion }: Identity,
    status: object,
    options: WriteOptions & { readonly namespace: string },
  ) {
    const patch = { metadata: { uid, resourceVersion }, status };
    return this.#client.patch(codec, patch, { ...options, name, subresource: 'status' });
  }

  async #delete(
    codec: { readonly kind: Kind },
    { name, uid, resourceVersion }: Identity,
    namespace: string,
    options: WriteOptions,
  ): Promise<undefined> {
    const seen = { namespace, name, uid, resourceVersion };
    await this.#client.delete(codec, { ...options, ...seen }).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error;
    });
  }
}

/** What slices with an address belong to. */
const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const;

function writtenSpec({ type, ports, ips, families, affinitySeconds, ...policies }: ImportSpec) {
  return {
    type,
    ports: ports.map(({ name, ...port }) => ({ ...port, name: name || undefined })),
    ips,
    ipFamilies: families,
    ...(affinitySeconds === undefined
      ? { sessionAffinity: 'None' }
      : { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds } } }),
    ...policies,
  };
}
