import type { KubeClient, RunOptions } from '@kube-semaphore/kube-client';
import { Codec, type Lease, leaseKind } from '@kube-semaphore/kube-objects';

/** The one Lease that an election is about. All of it rejects as KubeClient does. */
export type LeaseLock = {
  /** Undefined if there is none. */
  read(options: RunOptions): Promise<Lease | undefined>;
  /** 409 if there is one. */
  create(spec: Lease['spec'], options: RunOptions): Promise<Lease>;
  /** 409 if it isn't the version in `lease` any more, or was deleted. */
  update(lease: Lease, options: RunOptions): Promise<Lease>;
};

/**
 * A Lease in a cluster. The role needs `get`, `create` and `update` on `leases` of `coordination.k8s.io` in that
 * namespace, and no more; `get` and `update` may be limited to the name by `resourceNames`, `create` can't be.
 */
export function leaseLock(client: KubeClient, { namespace, name }: { namespace: string; name: string }): LeaseLock {
  const codec = new Codec(leaseKind);
  return {
    async read({ signal }) {
      try {
        return await client.get(codec, { namespace, name, signal });
      } catch (error) {
        if ((error as { status?: number }).status === 404) return undefined;
        throw error;
      }
    },
    create(spec, { signal }) {
      const lease = { metadata: { namespace, name }, spec };
      return client.create(codec, lease, { signal });
    },
    // Without the UID, a PUT would create a Lease that was deleted, whatever its version.
    update: (lease, { signal }) => client.update(codec, lease, { signal }),
  };
}
