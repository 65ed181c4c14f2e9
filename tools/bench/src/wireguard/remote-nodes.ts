import { createHash } from 'node:crypto';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { endpointAnnotation, pubKeyAnnotation } from '@kube-semaphore/wireguard/names';
import { node } from '@kube-semaphore/testkit';
import { digits } from '../load/digits.ts';

/** The local cluster, as the remote Nodes call it. */
export const LOCAL = 'c1';

/** Where the remote's pods are, a /24 for each Node. */
export const POD_SUBNET = '10.64.0.0/10';

/** Where its Nodes are, and where they move to: a range that is kept for benchmarks (RFC 2544), and leads nowhere. */
export const UNDERLAY = '198.18.0.0/15';

/** So many /24 are in the pod subnet. */
export const MOST_NODES = 16_384;

/** A Node of the remote cluster, whose agent has announced itself. Nobody is there to answer. */
export type RemoteNode = {
  readonly name: string;
  readonly publicKey: string;
  readonly podCidr: string;
  readonly endpoint: string;
  /** Where it will be. */
  readonly nextEndpoint: string;
};

/** The Node of this number, from 0 to `MOST_NODES - 1`. */
export function remoteNode(index: number): RemoteNode {
  const [high, low] = [index >> 8, index & 255];
  const name = `n${digits(index, 5)}`;
  return {
    name,
    publicKey: createHash('sha256').update(name).digest('base64'),
    podCidr: `10.${64 + high}.${low}.0/24`,
    endpoint: `198.18.${high}.${low}:51820`,
    nextEndpoint: `198.19.${high}.${low}:51820`,
  };
}

/** The annotations by which it is a peer of ours. */
export function announcement({
  publicKey,
  endpoint,
}: Pick<RemoteNode, 'publicKey' | 'endpoint'>): Readonly<Record<string, string>> {
  return { [pubKeyAnnotation(LOCAL)]: publicKey, [endpointAnnotation(LOCAL)]: endpoint };
}

/** So many images does a kubelet report. */
const IMAGES = 50;

/** The object, of the size that a kubelet makes it: 10 kB of JSON, most of which are images that nobody asks for. */
export function nodeObject(remote: RemoteNode): KubeObject {
  const [ip = ''] = remote.endpoint.split(':');
  const object = node({
    name: remote.name,
    annotations: announcement(remote),
    podCIDRs: [remote.podCidr],
    internalIPs: [ip],
  });
  const status = object['status'] as object;
  return { ...object, status: { ...status, images: Array.from({ length: IMAGES }, (_, index) => image(index)) } };
}

function image(index: number): object {
  const digest = createHash('sha256').update(String(index)).digest('hex');
  const repository = `registry.example/team/application-${index}`;
  return { names: [`${repository}@sha256:${digest}`, `${repository}:1.${index}.0`], sizeBytes: 10_000_000 + index };
}
