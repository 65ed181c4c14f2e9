import { isStatus, type KubeClient, type RunOptions, type WriteOptions } from '@kube-semaphore/kube-client';
import {
  Codec,
  type EndpointSlice,
  endpointSliceKind,
  endpointsKind,
  type Service,
  serviceKind,
  type WrittenEndpoint,
  type WrittenEndpointSlice,
  type WrittenService,
} from '@kube-semaphore/kube-objects';
import { mirroredServiceLabel } from '../names.ts';
import type { Change } from '../desired/diff/change.ts';
import type { DesiredService, DesiredSlice } from '../desired/objects.ts';
import { annotationsOf } from '../desired/diff/service.ts';
import type { Owner } from '../desired/diff/slices.ts';
import { familySpec } from '../desired/families.ts';
import { NoNamespaceError } from './mirror-namespace.ts';
import type { ObservedService, ObservedSlice } from '../desired/observed.ts';
import type { Endpoint } from '../desired/source.ts';
import { observedSlice } from './read.ts';

const services = new Codec(serviceKind);
const slices = new Codec(endpointSliceKind);

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
    const object = this.#service(to, undefined);
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
    return this.#client.update(services, this.#service(to, from), options);
  }

  /** A slice, ours or not; undefined if it has no address family. */
  async readSlice(name: string, { signal }: RunOptions): Promise<ObservedSlice | undefined> {
    return observedSlice(await this.#client.get(slices, { namespace: this.#namespace, name, signal }));
  }

  createSlice(to: DesiredSlice, owner: Owner, options: WriteOptions): Promise<EndpointSlice> {
    return this.#client.create(slices, this.#slice(to, owner, undefined), options);
  }

  updateSlice(from: ObservedSlice, to: DesiredSlice, owner: Owner, options: WriteOptions): Promise<EndpointSlice> {
    return this.#client.update(slices, this.#slice(to, owner, from), options);
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

  readonly #failed = (error: unknown): never => {
    throw isStatus(error, 404) ? new NoNamespaceError(this.#namespace, { cause: error }) : error;
  };

  #service(to: DesiredService, from: ObservedService | undefined): WrittenService {
    const { headless, ports, affinitySeconds, publishNotReadyAddresses, families } = to.definition;
    const labels = { ...from?.labels, ...to.labels };
    const annotations = annotationsOf(from, to);
    const retained = from && {
      uid: from.uid,
      resourceVersion: from.resourceVersion,
      ownerReferences: from.ownerReferences,
      finalizers: from.finalizers,
    };
    return {
      metadata: { namespace: this.#namespace, name: to.name, labels, annotations, ...retained },
      spec: {
        type: 'ClusterIP',
        ...(headless && { clusterIP: 'None' }),
        ...familySpec(families, from?.definition.families),
        ports,
        ...(affinitySeconds === undefined
          ? { sessionAffinity: 'None' }
          : { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds } } }),
        publishNotReadyAddresses,
      },
    };
  }

  #slice(to: DesiredSlice, owner: Owner, from: ObservedSlice | undefined): WrittenEndpointSlice {
    const { name, labels, annotations, family, ports } = to;
    return {
      metadata: {
        namespace: this.#namespace,
        name,
        labels,
        annotations,
        // Without blockOwnerDeletion: OwnerReferencesPermissionEnforcement requires a right for it that the Go program's
        // Role doesn't have.
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: owner.name, uid: owner.uid, controller: true }],
        ...(from && { uid: from.uid, resourceVersion: from.resourceVersion }),
      },
      addressType: family,
      ports,
      endpoints: to.endpoints.map(writtenEndpoint),
    };
  }
}

/** The API server refuses empty texts. */
const writtenEndpoint = ({ target, zones, ...endpoint }: Endpoint): WrittenEndpoint => ({
  ...endpoint,
  targetRef: target && { kind: target.kind || undefined, namespace: target.namespace || undefined, name: target.name },
  hints: zones && { forZones: zones.map((name) => ({ name })) },
});
