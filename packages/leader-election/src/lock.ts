import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, type Lease, leaseKind } from '@kube-semaphore/kube-objects';

/** The Lease of an election. All methods reject as KubeClient does. */
export type LeaseLock = {
  /** `namespace/name`. */
  readonly lease: string;
  /** Undefined if it is missing. */
  read(options: RunOptions): Promise<Lease | undefined>;
  /** 409 if it exists. Absent for a Lease that we don't create: while that is missing, we hold it. */
  create?(spec: Lease['spec'], options: RunOptions): Promise<Lease>;
  /** 409 if the present version isn't that of `lease`, or it was deleted. */
  update(lease: Lease, options: RunOptions): Promise<Lease>;
};

export type LeaseName = { readonly namespace: string; readonly name: string };

/**
 * A Lease in a cluster. The role needs `get`, `create` and `update` on `leases` of `coordination.k8s.io` in that
 * namespace; `resourceNames` can limit `get` and `update` to the name, but not `create`.
 */
export function leaseLock(client: KubeClient, { namespace, name }: LeaseName): LeaseLock {
  return {
    ...previousLeaseLock(client, { namespace, name }),
    create(spec, { signal }) {
      const lease = { metadata: { namespace, name }, spec };
      return client.create(new Codec(leaseKind), lease, { signal });
    },
  };
}

/**
 * The Lease of replicas of an earlier release: held if it exists, and never created. The role needs `get` and `update`,
 * and can limit both to the name.
 */
export function previousLeaseLock(client: KubeClient, { namespace, name }: LeaseName): LeaseLock {
  const codec = new Codec(leaseKind);
  return {
    lease: `${namespace}/${name}`,
    async read({ signal }) {
      try {
        return await client.get(codec, { namespace, name, signal });
      } catch (error) {
        if ((error as { status?: number }).status === 404) return undefined;
        throw error;
      }
    },
    // Without the UID, a PUT would create a Lease that was deleted, whatever its version.
    update: (lease, { signal }) => client.update(codec, lease, { signal }),
  };
}
