import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Node } from '@kube-semaphore/kube-objects';
import { isDnsSubdomain } from '@kube-semaphore/naming';
import { endpointAnnotation, pubKeyAnnotation } from '../names.ts';
import type { Cidr } from '@kube-semaphore/net';
import { parsePublicKey } from '@kube-semaphore/wireguard-tools';
import { type EndpointRules, parseEndpoint, refusalOf } from '../desired/endpoint.ts';
import { problemOf } from '../desired/diagnostic.ts';
import type { RemoteNode } from '../desired/remote-node.ts';
import { type OwnBlocks, readOwnBlocks } from './own-blocks.ts';

/** The candidate, if the Node can be one, and everything that is wrong with it. */
export type NodeReading = { readonly node: RemoteNode | undefined; readonly skipped: readonly Diagnostic[] };

/** By which a remote's Nodes are read. They change only when we start anew, or our own Node gets other addresses. */
export type NodeRules = {
  /** The local cluster: the one that the annotations are for. */
  readonly local: string;
  /** Of this remote. */
  readonly podSubnets: readonly Cidr[];
  readonly allowedIpsFrom: 'podCIDRs' | 'calico-blocks';
  readonly endpoints: EndpointRules;
};

const NOT_ANNOTATED: NodeReading = {
  node: undefined,
  skipped: [
    {
      kind: 'expected',
      reason: 'not-annotated',
      detail: 'no semaphore-wireguard of its cluster has announced itself on the Node',
    },
  ],
};

const NO_BLOCKS: OwnBlocks = { cidrs: [], skipped: [] };

/**
 * Reads a remote Node. Its annotations are written by whoever has its node, so nothing of them is believed that would
 * bring us to send packets to where they don't belong. A key or an endpoint that is no good makes it no peer, as there
 * would be nobody to talk to; a CIDR that is no good leaves the others.
 */
export function readNode({ metadata, spec }: Node, rules: NodeRules): NodeReading {
  const { uid, name, annotations, creationTimestamp: createdMs } = metadata;
  const raw = {
    key: annotations[pubKeyAnnotation(rules.local)],
    endpoint: annotations[endpointAnnotation(rules.local)],
  };
  if (raw.key === undefined && raw.endpoint === undefined) return NOT_ANNOTATED;
  const isNamed = isDnsSubdomain(name);
  const key = raw.key === undefined ? missing('public key') : readKey(raw.key);
  const endpoint = raw.endpoint === undefined ? missing('endpoint') : readEndpoint(raw.endpoint, rules.endpoints);
  // The first versions of the API have one podCIDR only, and current ones repeat it there.
  const podCidrs = spec.podCIDRs.length > 0 || spec.podCIDR === '' ? spec.podCIDRs : [spec.podCIDR];
  const blocks = rules.allowedIpsFrom === 'podCIDRs' ? readOwnBlocks(podCidrs, rules.podSubnets) : NO_BLOCKS;
  const skipped = [
    ...problemOf('bad-name', isNamed ? [] : ['its name is no name of a Node']),
    ...key.skipped,
    ...endpoint.skipped,
    ...blocks.skipped,
  ];
  if (!isNamed || key.value === undefined || endpoint.value === undefined) return { node: undefined, skipped };
  return {
    node: { uid, name, createdMs, publicKey: key.value, endpoint: endpoint.value, podCidrs: blocks.cidrs },
    skipped,
  };
}

type Reading = { readonly value: string | undefined; readonly skipped: readonly Diagnostic[] };

function readKey(raw: string): Reading {
  const key = parsePublicKey(raw);
  return key.ok ? { value: key.value, skipped: [] } : refused('bad-key', `its public key is no good: ${key.reason}`);
}

function readEndpoint(raw: string, rules: EndpointRules): Reading {
  const endpoint = parseEndpoint(raw);
  if (!endpoint.ok) return refused('bad-endpoint', `its endpoint is no good: ${endpoint.reason}`);
  const refusal = refusalOf(endpoint.value, rules);
  return refusal === undefined
    ? { value: endpoint.value.text, skipped: [] }
    : refused('refused-endpoint', `its endpoint ${endpoint.value.text} is refused: ${refusal}`);
}

const refused = (reason: string, detail: string): Reading => ({
  value: undefined,
  skipped: problemOf(reason, [detail]),
});

const missing = (what: string): Reading => refused('half-annotated', `the annotation with its ${what} is missing`);
