import { KubeApiError, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import type { Sink } from '@kube-semaphore/network-policies';
import { servedGroups } from '../../local/api-groups.ts';

export type OtherSinks = {
  /** The cluster serves their objects, and lets us list them. */
  readonly readable: readonly Sink[];
  /** It forbids that. */
  readonly forbidden: readonly Sink[];
};

/** The names of a sink's objects, for people. */
export const resourceNames = ({ resources }: Sink): readonly string[] =>
  resources.map(({ plural, group }) => `${plural}.${group}`);

/** Asks a cluster which sinks may have left companions that we can replace. @throws KubeApiError, ConnectionError */
export async function readableSinks(
  sinks: readonly Sink[],
  client: Pick<KubeClient, 'getRaw'>,
  run: RunOptions,
): Promise<OtherSinks> {
  const groups = await servedGroups(client, run);
  const found = { readable: [] as Sink[], forbidden: [] as Sink[] };
  for (const sink of sinks.filter(({ resources }) => resources.some(({ group }) => groups.has(group)))) {
    const paths = sink.resources.map(({ group, version, plural }) => `/apis/${group}/${version}/${plural}?limit=1`);
    try {
      await Promise.all(paths.map((path) => client.getRaw(path, run)));
      found.readable.push(sink);
    } catch (error) {
      if (!(error instanceof KubeApiError && [403, 404].includes(error.status))) throw error;
      // After 404, the API group has other resources only.
      if (error.status === 403) found.forbidden.push(sink);
    }
  }
  return found;
}
