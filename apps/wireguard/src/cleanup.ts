import { KubeApiError, type KubeClient, type RunOptions } from '@kube-semaphore/kube-client';
import { Codec, nodeKind } from '@kube-semaphore/kube-objects';
import type { Removal } from '@kube-semaphore/multicluster';
import type { WireGuardTools } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from './config/settings.ts';
import { annotationPatch } from './own-node/desired/own-node.ts';
import { deviceOf, observeNode } from './mesh/local/observe.ts';
import { examineDevice } from './mesh/local/ownership.ts';
import { clusterOfAnnotation, remoteOfAlias } from './names.ts';

export type CleanupInput = RunOptions & {
  /** The remote to clean up after; undefined: all. */
  readonly cluster: string | undefined;
  readonly nodeName: string;
  /** Of the local cluster. */
  readonly client: KubeClient;
  readonly tools: WireGuardTools;
  /** Of the config. Their devices may be ours without a mark. */
  readonly remotes: readonly RemoteSettings[];
  readonly keyFolder: string;
  /** Called if there is no such Node, so nothing is announced. */
  readonly onNoNode: () => void;
};

const codec = new Codec(nodeKind);

/**
 * Finds what is ours on this node: first the annotations, so that peers stop sending to us; then the devices with their routes.
 * Keys stay, for a node that comes back.
 *
 * @throws KubeApiError, ConnectionError; {KeyFileError}, {WireGuardToolsError}
 */
export async function removalsOf(input: CleanupInput): Promise<readonly Removal[]> {
  const { client, nodeName, tools } = input;
  const annotations = await annotationsOf(input);
  const concerns = (cluster: string | undefined): cluster is string =>
    cluster !== undefined && (input.cluster ?? cluster) === cluster;
  const withdrawn = [...new Set(Object.keys(annotations).map(clusterOfAnnotation))].filter(concerns).toSorted();
  const devices = await ownDevices(input, annotations, concerns);
  return [
    ...withdrawn.map((cluster) => ({
      line: `delete  annotations of ${cluster} on Node ${nodeName}`,
      carryOut: async (run: RunOptions): Promise<void> => {
        const patch = annotationPatch(annotations, { announced: [], withdrawn: [cluster] });
        await client.patch(codec, { metadata: { annotations: patch } }, { name: nodeName, ...run });
      },
    })),
    ...devices.map((device) => ({
      line: `delete  device ${device} with its routes`,
      carryOut: (run: RunOptions) => tools.deleteLink(device, run),
    })),
  ];
}

/** The annotations of our Node. When a node is decommissioned, its Node may be gone already. */
async function annotationsOf({
  client,
  nodeName,
  onNoNode,
  signal,
}: CleanupInput): Promise<Readonly<Record<string, string>>> {
  try {
    return (await client.get(codec, { name: nodeName, signal })).metadata.annotations;
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.status !== 404) throw error;
    onNoNode();
    return {};
  }
}

/** Devices with our mark, and those of the config that an agent would adopt. */
async function ownDevices(
  { tools, remotes, keyFolder, signal }: CleanupInput,
  annotations: Readonly<Record<string, string>>,
  concerns: (cluster: string | undefined) => cluster is string,
): Promise<readonly string[]> {
  const observed = await observeNode(tools, { signal });
  const marked = observed.links.filter(({ alias }) => concerns(remoteOfAlias(alias))).map(({ name }) => name);
  // A device with our mark is ours even if its key file can't be read.
  const unmarked = remotes.filter(({ name, device }) => concerns(name) && !marked.includes(device));
  const adopted = await Promise.all(
    unmarked.map(async (remote) => {
      const observation = deviceOf(observed, remote.device);
      if (observation.link === undefined) return [];
      const rules = { annotations, keyFolder, userspace: 'never' } as const;
      const { ownership } = await examineDevice(remote, { observation, ...rules });
      return ownership.kind === 'adopted' ? [remote.device] : [];
    }),
  );
  return [...new Set([...marked, ...adopted.flat()])].toSorted();
}
