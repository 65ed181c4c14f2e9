import { isStatus, type KubeClient, type RunOptions, type WriteOptions } from '@kube-semaphore/kube-client';
import {
  Codec,
  type EndpointSlice,
  endpointSliceKind,
  endpointsKind,
  type Service,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { mirroredServiceLabel } from '../../names.ts';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import type { DesiredService, DesiredSlice } from '../../endpoints/desired/objects.ts';
import type { Owner } from '../../endpoints/desired/diff/slices.ts';
import { NoNamespaceError } from './mirror-namespace.ts';
import type { ObservedService, ObservedSlice } from '../../endpoints/desired/observed.ts';
import { observedSlice } from '../../endpoints/local/read.ts';
import { writtenService, writtenSlice } from '../../endpoints/local/written.ts';

const services = new Codec(serviceKind);
const slices = new Codec(endpointSliceKind);

/** What our slices belong to. */
const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const;

/** A change that deletes an object. */
export type Deletion = Extract<
  Change,
  { readonly kind: 'replace-service' | 'delete-service' | 'delete-slice' | 'delete-endpoints' }
>;

/** Of what each change deletes. */
const codecs = {
  'replace-service': services,
  'delete-service': services,
  'delete-slice': slices,
  'delete-endpoints': new Codec(endpointsKind),
} as const;

/**
 * Writes to the mirror namespace, one request each. Updates and deletes have the observed version as a precondition:
 * 409 on a newer one. Deleting an object that is already gone succeeds.
 */
export class ObjectWriter {
  readonly #client: KubeClient;
  readonly #namespace: string;

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** @throws NoNamespaceError. Services come before all other objects, so no other write finds this. */
  async createService(to: DesiredService, options: WriteOptions): Promise<Service> {
    const object = writtenService(to, undefined, this.#namespace);
    return this.#client.create(services, object, options).catch(this.#failed);
  }

  /**
   * Creates a Service as a dry run, which needs no right that a mirror doesn't have.
   *
   * @throws NoNamespaceError; any other error says nothing about the namespace
   */
  async checkNamespace({ signal }: RunOptions): Promise<void> {
    const labels = { [mirroredServiceLabel]: 'true' };
    const metadata = { namespace: this.#namespace, name: 'semaphore-service-mirror', labels };
    const object = { metadata, spec: { clusterIP: 'None', ports: [{ port: 1 }] } };
    await this.#client.create(services, object, { signal, dryRun: true }).catch(this.#failed);
  }

  updateService(from: ObservedService, to: DesiredService, options: WriteOptions): Promise<Service> {
    return this.#client.update(services, writtenService(to, from, this.#namespace), options);
  }

  /** A slice, ours or not; undefined if it has no address family. */
  async readSlice(name: string, { signal }: RunOptions): Promise<ObservedSlice | undefined> {
    return observedSlice(await this.#client.get(slices, { namespace: this.#namespace, name, signal }));
  }

  createSlice(to: DesiredSlice, owner: Owner | undefined, options: WriteOptions): Promise<EndpointSlice> {
    return this.#client.create(slices, writtenSlice(to, undefined, this.#ownedBy(owner)), options);
  }

  updateSlice(
    from: ObservedSlice,
    to: DesiredSlice,
    owner: Owner | undefined,
    options: WriteOptions,
  ): Promise<EndpointSlice> {
    return this.#client.update(slices, writtenSlice(to, from, this.#ownedBy(owner)), options);
  }

  /** A replaced Service leaves its slices behind: the next Service of its name adopts them. */
  async delete({ kind, from }: Deletion, options: WriteOptions): Promise<void> {
    const { name, uid, resourceVersion } = from;
    const policy = kind === 'replace-service' && { propagationPolicy: 'Orphan' as const };
    const seen = { namespace: this.#namespace, name, uid, resourceVersion };
    await this.#client.delete(codecs[kind], { ...options, ...seen, ...policy }).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error;
    });
  }

  #ownedBy(owner: Owner | undefined): Parameters<typeof writtenSlice>[2] {
    return { namespace: this.#namespace, owner: owner && { ...SERVICE, ...owner } };
  }

  readonly #failed = (error: unknown): never => {
    throw isStatus(error, 404) ? new NoNamespaceError(this.#namespace, { cause: error }) : error;
  };
}
