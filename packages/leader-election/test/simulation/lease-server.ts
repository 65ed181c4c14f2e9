import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Lease } from '@kube-semaphore/kube-objects';
import type { LeaseLock } from '../../src/lock.ts';
import type { Network } from './network.ts';

/** An API server with one Lease. */
export class LeaseServer {
  #lease: Lease | undefined;
  #version = 0;

  /** As kubectl does. */
  delete(): void {
    this.#lease = undefined;
  }

  read(): Lease | undefined {
    return this.#lease;
  }

  create(spec: Lease['spec']): Lease {
    if (this.#lease !== undefined) throw conflict('AlreadyExists');
    const uid = `uid-${++this.#version}`;
    const identity = { name: 'lease', namespace: 'ns', uid, resourceVersion: '' };
    const rest = { labels: {}, annotations: {}, ownerReferences: undefined, finalizers: undefined };
    return this.#store({ metadata: { ...identity, ...rest }, spec });
  }

  update(lease: Lease): Lease {
    const { uid, resourceVersion } = lease.metadata;
    const now = this.#lease?.metadata;
    if (now?.uid !== uid || now.resourceVersion !== resourceVersion) throw conflict('Conflict');
    return this.#store(lease);
  }

  #store(lease: Lease): Lease {
    this.#lease = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++this.#version) } };
    return this.#lease;
  }
}

/** The server through a network. */
export function lockOver(network: Network, server: LeaseServer): Required<LeaseLock> {
  return {
    ...previousLockOver(network, server),
    create: (spec, options) => network.request(() => server.create(spec), options),
  };
}

/** The same for a replica that creates no Lease. */
export function previousLockOver(network: Network, server: LeaseServer): LeaseLock {
  return {
    lease: 'ns/lease',
    read: (options) => network.request(() => server.read(), options),
    update: (lease, options) => network.request(() => server.update(lease), options),
  };
}

/** A Lease without a holder, as in manifests. */
export const FREE: Lease['spec'] = {
  holderIdentity: '',
  leaseDurationSeconds: 0,
  acquireTime: '',
  renewTime: '',
  leaseTransitions: 0,
};

const conflict = (reason: string): KubeApiError => new KubeApiError(reason, { status: 409, reason });
