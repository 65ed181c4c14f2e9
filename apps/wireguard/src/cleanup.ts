import type { Removal } from '@kube-semaphore/multicluster';
import { KubeApiError, type KubeClient } from '@kube-semaphore/kube-client';
import { Codec, nodeKind } from '@kube-semaphore/kube-objects';
import { clusterOfAnnotation, remoteOfAlias } from './names.ts';
import type { WireGuardTools } from '@kube-semaphore/wireguard-tools';
import { findDeviceKey, provingKeys } from './local/device-key.ts';
import { observeNode } from './local/observe.ts';
import { announcedKey } from './desired/device.ts';
import { ownershipOf } from './local/ownership.ts';
import { annotationPatch } from './desired/own-node.ts';
import type { RemoteSettings } from './config/settings.ts';

export type CleanupInput = {
  /** The remote to take leave of; undefined: all. */
  readonly cluster: string | undefined;
  readonly nodeName: string;
  /** Of the local cluster. */
  readonly client: KubeClient;
  readonly tools: WireGuardTools;
  /** Of the config: their devices may be ours without a mark. */
  readonly remotes: readonly RemoteSettings[];
  readonly keyFolder: string;
  /** The Node is gone, or there never was one of this name: nothing is announced. */
  readonly onNoNode: () => void;
  readonly signal: AbortSignal;
};

const codec = new Codec(nodeKind);

/**
 * What there is of ours on this node, to be removed: what our Node announces, so that nobody sends to us any more, and then
 * the devices, which take their routes along. Keys stay, for a node that comes back.
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
      carryOut: async (run: { readonly signal: AbortSignal }): Promise<void> => {
        const patch = annotationPatch(annotations, { announced: [], withdrawn: [cluster] });
        await client.patch(codec, { metadata: { annotations: patch } }, { name: nodeName, ...run });
      },
    })),
    ...devices.map((device) => ({
      line: `delete  device ${device} with its routes`,
      carryOut: (run: { readonly signal: AbortSignal }) => tools.deleteLink(device, run),
    })),
  ];
}

/** What our Node says. Who decommissions a node may have deleted its Node already. */
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

/** Those with our mark, and those of the config that an agent would adopt. */
async function ownDevices(
  { tools, remotes, keyFolder, signal }: CleanupInput,
  annotations: Readonly<Record<string, string>>,
  concerns: (cluster: string | undefined) => cluster is string,
): Promise<readonly string[]> {
  const around = await observeNode(tools, { signal });
  const marked = around.links.filter(({ alias }) => concerns(remoteOfAlias(alias))).map(({ name }) => name);
  const adopted = await Promise.all(
    remotes
      .filter(({ name }) => concerns(name))
      .map(async (remote) => {
        const link = around.links.find(({ name }) => name === remote.device);
        // Its key file may be what is wrong, and says nothing that the mark doesn't.
        if (link === undefined || marked.includes(link.name)) return [];
        const announced = announcedKey(remote, annotations);
        const look = {
          device: around.devices.find(({ name }) => name === remote.device),
          link,
          links: around.links,
          routes: [],
        };
        const key = await findDeviceKey(remote, { folder: keyFolder, look, announced });
        const knownKeys = provingKeys(key, announced);
        return ownershipOf(remote, around, { knownKeys, userspace: 'never' }).kind === 'adopted' ? [remote.device] : [];
      }),
  );
  return [...new Set([...marked, ...adopted.flat()])].toSorted();
}
