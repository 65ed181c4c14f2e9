import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, type Lease, leaseKind } from '@kube-semaphore/kube-objects';

/** A Lease that an election is about. All of it rejects as KubeClient does. */
export type LeaseLock = {
  /** `namespace/name`. */
  readonly lease: string;
  /** Undefined if there is none. */
  read(options: RunOptions): Promise<Lease | undefined>;
  /** 409 if there is one. Absent for a Lease that we don't create: while it is missing, it counts as held by us. */
  create?(spec: Lease['spec'], options: RunOptions): Promise<Lease>;
  /** 409 if it isn't the version in `lease` any more, or was deleted. */
  update(lease: Lease, options: RunOptions): Promise<Lease>;
};

/** Where a Lease is. */
export type LeaseName = { readonly namespace: string; readonly name: string };

/**
 * A Lease in a cluster. The role needs `get`, `create` and `update` on `leases` of `coordination.k8s.io` in that
 * namespace, and no more; `get` and `update` may be limited to the name by `resourceNames`, `create` can't be.
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
 * The Lease by which replicas of an earlier release elect: held where it exists, and never created. The role needs `get`
 * and `update`, and both may be limited to the name.
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
