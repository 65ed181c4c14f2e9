import { createHash } from 'node:crypto';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { endpointAnnotation, pubKeyAnnotation } from '@kube-semaphore/wireguard/names';
import { node } from '@kube-semaphore/testkit';
import { digits } from '../load/names.ts';

/** The name of the local cluster on remote Nodes. */
export const LOCAL = 'c1';

/** The remote's pods, a /24 for each Node. */
export const POD_SUBNET = '10.64.0.0/10';

/** The old and new endpoints of its Nodes, in the range for benchmarks (RFC 2544), which isn't routed. */
export const UNDERLAY = '198.18.0.0/15';

/** The number of /24 in the pod subnet. */
export const MOST_NODES = 16_384;

/** An announced Node of the remote cluster. No machine answers. */
export type RemoteNode = {
  readonly name: string;
  readonly publicKey: string;
  readonly podCidr: string;
  readonly endpoint: string;
  /** Its endpoint after the change. */
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

/** The annotations that make it a peer. */
export function announcement({
  publicKey,
  endpoint,
}: Pick<RemoteNode, 'publicKey' | 'endpoint'>): Readonly<Record<string, string>> {
  return { [pubKeyAnnotation(LOCAL)]: publicKey, [endpointAnnotation(LOCAL)]: endpoint };
}

/** The number of images that a kubelet reports. */
const IMAGES = 50;

/** The object, of the size of a real Node: 10 kB of JSON, mostly images. */
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
