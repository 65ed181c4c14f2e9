import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { endpointAnnotation, pubKeyAnnotation } from '../../src/names.ts';
import { node as nodeObject } from '@kube-semaphore/testkit';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import type { Agent } from './agent-process.ts';
import type { MeshCluster, MeshNode } from './mesh.ts';

const { signal } = new AbortController();

/** A public key without a known private key. */
export const newPublicKey = (): string => publicKeyOf(generatePrivateKey());

/** What a Node announces to the agents of c1, true or not. */
export type Announcement = { readonly publicKey?: string; readonly endpoint?: string };

const annotationsOf = ({ publicKey, endpoint }: Announcement): Record<string, string> => ({
  ...(publicKey !== undefined && { [pubKeyAnnotation('c1')]: publicKey }),
  ...(endpoint !== undefined && { [endpointAnnotation('c1')]: endpoint }),
});

/** A Node without a machine. By default, it has its own key and an unused address. */
export type ShamNode = Announcement & { readonly name: string; readonly podCIDRs: readonly string[] };

/** Adds it, announced to c1. */
export async function addShamNode(
  { server }: MeshCluster,
  { name, podCIDRs, publicKey = newPublicKey(), endpoint = '198.51.100.1:51820' }: ShamNode,
): Promise<void> {
  await server.admin.create(
    '/api/v1/nodes',
    nodeObject({ name, podCIDRs, annotations: annotationsOf({ publicKey, endpoint }) }),
  );
}

/** Deletes a Node, with or without a machine. */
export const deleteNode = ({ server }: MeshCluster, name: string): Promise<void> =>
  server.admin.delete(`/api/v1/nodes/${name}`);

/** Changes what a Node announces to c1. */
export const announceAs = (cluster: MeshCluster, name: string, announcement: Announcement): Promise<KubeObject> =>
  annotate(cluster, name, annotationsOf(announcement));

/** Changes annotations of a Node. @throws {Error} if the API server refuses */
export async function annotate(
  { server }: MeshCluster,
  name: string,
  annotations: Readonly<Record<string, string>>,
): Promise<KubeObject> {
  const { status, body } = await server.admin.request('PATCH', `/api/v1/nodes/${name}`, { metadata: { annotations } });
  if (status !== 200) throw new Error(`${status} ${String(body['message'])}`);
  return body;
}

/** Says whether a Node is Ready, since a Unix time in seconds. @throws {Error} if the API server refuses */
export async function beReady(
  { server }: MeshCluster,
  name: string,
  status: 'True' | 'Unknown',
  sinceSeconds: number,
): Promise<void> {
  const lastTransitionTime = new Date(sinceSeconds * 1_000).toISOString();
  const patch = { status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] } };
  const { status: code, body } = await server.admin.request('PATCH', `/api/v1/nodes/${name}/status`, patch);
  if (code !== 200) throw new Error(`${code} ${String(body['message'])}`);
}

/** The public key of a node's device. */
export async function publicKeyOn({ tools }: MeshNode, device: string): Promise<string> {
  return eventually(async () => (await tools.device(device, { signal }))?.publicKey, isDefined, {
    what: `a key of ${device}`,
  });
}

/** The present endpoints of the peers of a node's device, by public key. */
export async function endpointsOn(
  { tools }: MeshNode,
  device: string,
): Promise<Readonly<Record<string, string | undefined>>> {
  const peers = (await tools.device(device, { signal }))?.peers ?? [];
  return Object.fromEntries(peers.map(({ publicKey, endpoint }) => [publicKey, endpoint]));
}

/** The sorted blocks of each peer of a node's device. */
export async function blocksOn({ tools }: MeshNode, device: string): Promise<readonly string[]> {
  const peers = (await tools.device(device, { signal }))?.peers ?? [];
  return peers.map(({ allowedIps }) => allowedIps.join(' ')).toSorted();
}

const CHANGES = new Set([
  'device created',
  'device adopted',
  'device changed',
  'peer changed',
  'announced on our Node',
  'private key written',
]);

/** What an agent has changed so far, from its log. */
export const changesBy = (agent: Agent): ReturnType<Agent['log']> => agent.log().filter(({ msg }) => CHANGES.has(msg));
