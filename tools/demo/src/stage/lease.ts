import { eventually, isDefined } from '@kube-semaphore/eventually';
import type { App } from './app.ts';
import type { Site } from './site.ts';

/** Where the Lease is that the replicas in a cluster share, and whom to ask about it. */
export type LeaseQuery = { readonly site: Site; readonly namespace: string; readonly name: string };

/** Who of some replicas holds a Lease, and since when, in ms since the epoch. */
export type Holder = { readonly app: App; readonly sinceMs: number };

/** Waits until one of `apps` holds the Lease: the API server says who, and not the apps themselves. */
export function waitForHolder(
  { site, namespace, name }: LeaseQuery,
  { apps, signal }: { apps: readonly App[]; signal: AbortSignal },
): Promise<Holder> {
  return eventually(async () => {
    signal.throwIfAborted();
    const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`;
    const { status, body } = await site.server.admin.request('GET', path);
    if (status !== 200) return undefined;
    const { holderIdentity, acquireTime } = body['spec'] as { holderIdentity: string; acquireTime: string };
    const identities = await Promise.all(apps.map((app) => app.logged('waiting for the Lease', { signal })));
    const app = apps[identities.findIndex(({ identity }) => identity === holderIdentity)];
    return app && { app, sinceMs: Date.parse(acquireTime) };
  }, isDefined, { what: `a holder of the Lease ${name}`, timeoutMs: 15_000 });
}
