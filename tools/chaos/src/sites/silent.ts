import { type NodeFacts, startNode } from './node.ts';
import type { Clusters, Site, SiteInput } from '../subject.ts';

/** The site of semaphore-wireguard with `reportSilentAfter` of a remote: its view has the Nodes that ours calls silent. */
export async function startWitness(
  remote: string,
  facts: NodeFacts,
  clusters: Clusters,
  input: SiteInput,
): Promise<Site> {
  const site = await startNode(facts, clusters, input);
  return {
    ...site,
    async observed(remotes) {
      const { annotations = {} } = (await clusters.c1.admin.get('/api/v1/nodes/n1')).metadata;
      const { [`${remote}.wireguard.semaphore.uw.io/silent`]: report = '' } = annotations;
      const view = await site.observed(remotes);
      return { ...view, ...(report !== '' && { [`silent ${remote}`]: report.split(' of ')[0]!.split(',') }) };
    },
  };
}
