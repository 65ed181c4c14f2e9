import { type Context, inTime } from '../../clusters/contexts.ts';
import type { ObjectAt } from '../../clusters/object-api.ts';
import { type Applied, LinkApi } from './api.ts';
import { type Applicable, applyLink, endlessTokens, handOverTokens, planLink, render } from './apply.ts';
import type { Overlay, Side } from '../decide.ts';
import type { Cluster } from '../findings/findings.ts';
import type { ObjectChange } from '../page.ts';

/** What a run does with the clusters: it compares them, applies the overlays, or only renews tokens. */
export type Mode = 'plan' | 'apply' | 'renew';

/** A cluster whose folder has the overlay. */
type Written = Pick<Side, 'path' | 'choices'> & {
  readonly cluster: Cluster;
  readonly api: Context;
  readonly overlay: Overlay;
};

/** What was done to a cluster, or would be; and why the rest is not known. */
type Done = { readonly objects: readonly ObjectChange[]; readonly unknown?: string | undefined };

/**
 * Does what a run does with the clusters. Of a plan, what can't be found out is unknown.
 *
 * @returns of each cluster, in their order; and the failure that ended it early
 */
export async function carryOut(
  linked: readonly Written[],
  { mode, signal }: { readonly mode: Mode; readonly signal: AbortSignal },
): Promise<{ readonly clusters: readonly Done[]; readonly notes: readonly string[]; readonly failure?: Error }> {
  const changes = new Map(linked.map(({ api }) => [api.name, [] as ObjectChange[]]));
  const report = (context: string, { kind, metadata: { namespace, name } }: ObjectAt, change: Applied): void =>
    void changes.get(context)!.push({ kind, namespace, name, change });
  const objectsOf = ({ api }: Written): Done => ({ objects: changes.get(api.name)! });
  try {
    const clusters = await Promise.all(linked.map((each) => applicableOf(each, { mode, signal })));
    if (mode === 'plan') {
      const planned = await Promise.allSettled(clusters.map((each) => planLink(each, { clusters, report })));
      signal.throwIfAborted();
      return {
        clusters: linked.map((each, i) => ({ ...objectsOf(each), unknown: reasonOf(planned[i]!) })),
        notes: planned.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])),
      };
    }
    const left = mode === 'apply' ? await applyLink(clusters, { report }) : [];
    if (mode === 'renew') await handOverTokens(clusters, { renew: true, report });
    return { clusters: linked.map(objectsOf), notes: [...left, ...(await endlessTokens(clusters))] };
  } catch (error) {
    const failure = error as Error;
    // Also after an interrupt, it matters what was done.
    if (mode !== 'plan') return { clusters: linked.map(objectsOf), notes: [], failure };
    signal.throwIfAborted();
    return { clusters: linked.map(() => ({ objects: [], unknown: failure.message })), notes: [] };
  }
}

const reasonOf = (settled: PromiseSettledResult<unknown>): string | undefined =>
  settled.status === 'rejected' ? (settled.reason as Error).message : undefined;

const applicableOf = async (
  { cluster, api, path, choices: { coredns = true, mcs = false, helm = false, boundTokens }, overlay }: Written,
  { mode, signal }: { readonly mode: Mode; readonly signal: AbortSignal },
): Promise<Applicable> => ({
  name: cluster.name,
  context: cluster.context,
  // What a plan reads must end, too.
  api: new LinkApi(mode === 'plan' ? inTime(api) : api, { signal }),
  objects: await render(path, { signal }),
  helm,
  remotes: overlay.remotes,
  coredns,
  mcs,
  lifetimeS: typeof boundTokens === 'number' ? boundTokens / 1_000 : undefined,
});
