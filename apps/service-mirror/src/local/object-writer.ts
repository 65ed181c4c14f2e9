import { KubeApiError, type KubeClient, type RunOptions, type WriteOptions } from '@kube-semaphore/kube-client';
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
import type { DesiredEndpoint, DesiredService, DesiredSlice } from '../desired/objects.ts';
import { annotationsOf } from '../desired/diff-service.ts';
import type { Owner } from '../desired/diff-slices.ts';
import { familySpec } from '../desired/families.ts';
import { NoNamespaceError } from './no-namespace-error.ts';
import type { ObservedEndpoints, ObservedService, ObservedSlice } from '../desired/observed.ts';
import { ownAnnotations } from '../desired/own-annotations.ts';
import { observedSlice } from './read.ts';

const services = new Codec(serviceKind);
const slices = new Codec(endpointSliceKind);
const endpoints = new Codec(endpointsKind);

/**
 * Writes to one namespace of the local cluster, one request each. Updates and deletes have the version that was seen as
 * a precondition: 409 on anything newer. What is to be deleted and is gone already is no error.
 */
export class ObjectWriter {
  readonly #client: KubeClient;
  readonly #namespace: string;

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** @throws NoNamespaceError. Before all other objects there is a Service, so this is where that shows. */
  async createService(to: DesiredService, options: WriteOptions): Promise<Service> {
    const object = this.#service(to, undefined);
    return this.#client.create(services, object, options).catch(this.#failed);
  }

  /**
   * Tries to create a Service and stores nothing: it takes no right that a mirror doesn't have.
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

  /** @param orphan leave its slices, which another Service of the name is to own */
  async deleteService(
    from: ObservedService,
    { orphan, ...options }: WriteOptions & { orphan: boolean },
  ): Promise<void> {
    await this.#client
      .delete(services, { ...options, ...this.#identity(from), ...(orphan && { propagationPolicy: 'Orphan' }) })
      .catch(unlessGone);
  }

  /** A slice by its name, whoever's it is; undefined for one of no address family. */
  async readSlice(name: string, { signal }: RunOptions): Promise<ObservedSlice | undefined> {
    return observedSlice(await this.#client.get(slices, { namespace: this.#namespace, name, signal }));
  }

  createSlice(to: DesiredSlice, owner: Owner, options: WriteOptions): Promise<EndpointSlice> {
    return this.#client.create(slices, this.#slice(to, owner, undefined), options);
  }

  updateSlice(from: ObservedSlice, to: DesiredSlice, owner: Owner, options: WriteOptions): Promise<EndpointSlice> {
    return this.#client.update(slices, this.#slice(to, owner, from), options);
  }

  async deleteSlice(from: ObservedSlice, options: WriteOptions): Promise<void> {
    await this.#client.delete(slices, { ...options, ...this.#identity(from) }).catch(unlessGone);
  }

  async deleteEndpoints(from: ObservedEndpoints, options: WriteOptions): Promise<void> {
    await this.#client.delete(endpoints, { ...options, ...this.#identity(from) }).catch(unlessGone);
  }

  readonly #failed = (error: unknown): never => {
    throw isMissing(error) ? new NoNamespaceError(this.#namespace, { cause: error }) : error;
  };

  #identity({
    name,
    uid,
    resourceVersion,
  }: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  }) {
    return { namespace: this.#namespace, name, uid, resourceVersion };
  }

  #service(to: DesiredService, from: ObservedService | undefined): WrittenService {
    const { headless, ports, affinitySeconds, publishNotReadyAddresses, families } = to.definition;
    const labels = { ...from?.labels, ...to.labels };
    const annotations = annotationsOf(from, to, ownAnnotations);
    const kept = from && {
      uid: from.uid,
      resourceVersion: from.resourceVersion,
      ownerReferences: from.ownerReferences,
      finalizers: from.finalizers,
    };
    return {
      metadata: { namespace: this.#namespace, name: to.name, labels, annotations, ...kept },
      spec: {
        type: 'ClusterIP',
        ...(headless && { clusterIP: 'None' }),
        ...familySpec(families, from?.definition.families),
        ports: ports.map((port) => withoutUndefined({ ...port })),
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
        // Without blockOwnerDeletion, for which OwnerReferencesPermissionEnforcement asks for a right that the Go program's Role hasn't got.
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: owner.name, uid: owner.uid, controller: true }],
        ...(from && { uid: from.uid, resourceVersion: from.resourceVersion }),
      },
      addressType: family,
      ports: ports.map((port) => withoutUndefined({ ...port })),
      endpoints: to.endpoints.map(writtenEndpoint),
    };
  }
}

function writtenEndpoint({
  addresses,
  conditions,
  hostname,
  target,
  nodeName,
  zone,
  zones,
}: DesiredEndpoint): WrittenEndpoint {
  return withoutUndefined({
    addresses,
    conditions: withoutUndefined(conditions),
    hostname,
    targetRef: target && withoutEmpty(target),
    nodeName,
    zone,
    hints: zones && { forZones: zones.map((name) => ({ name })) },
  });
}

/** What has no value is left out, for empty values would be refused. */
function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}

function withoutEmpty<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== '')) as Partial<T>;
}

function unlessGone(error: unknown): void {
  if (!isMissing(error)) throw error;
}

const isMissing = (error: unknown): boolean => error instanceof KubeApiError && error.status === 404;
