import type { Node } from '@kube-semaphore/kube-objects';
import type { Diagnostic } from '@kube-semaphore/multicluster';
import { isDnsSubdomain } from '@kube-semaphore/naming';
import type { AddressRules, Cidr } from '@kube-semaphore/net';
import { parsePublicKey } from '@kube-semaphore/wireguard-tools';
import { problemOf } from '../desired/diagnostic.ts';
import { type EndpointRules, parseEndpoint, refusalOf } from '../desired/endpoint.ts';
import { podCidrsOf } from '../../own-node/desired/own-node.ts';
import type { RemoteNode } from '../desired/remote-node.ts';
import { endpointAnnotation, planesAnnotation, pubKeyAnnotation } from '../../names.ts';
import { readOwnBlocks } from './own-blocks.ts';

/** The candidate for a peer, if the Node can be one, and everything that is wrong with it. */
export type NodeReading = { readonly node: RemoteNode | undefined; readonly skipped: readonly Diagnostic[] };

/** How a remote's Nodes are read. Changes with our own Node, and with the remotes of the config. */
export type NodeRules = Pick<AddressRules, 'families'> & {
  /** The local cluster's name, which annotations are for. */
  readonly local: string;
  /** Of this remote. */
  readonly podSubnets: readonly Cidr[];
  readonly allowedIpsFrom: 'podCIDRs' | 'calico-blocks';
  readonly endpoints: EndpointRules;
  /** Our own Node is reached nowhere, so it doesn't meet others that dial out. */
  readonly dialsOut: boolean;
};

const NOT_ANNOTATED: Diagnostic = {
  kind: 'expected',
  reason: 'not-annotated',
  detail: 'it has no annotations from a semaphore-wireguard of its cluster',
};

/**
 * Reads a remote Node. Anyone on its node can write its annotations, so nothing in them may make us send packets to a wrong
 * place. With an invalid key or endpoint, the Node is not a peer; an invalid CIDR alone is skipped. Without an endpoint, it dials
 * out: we learn where it is from its packets, which its key proves.
 */
export function readNode({ metadata, spec, status }: Node, rules: NodeRules): NodeReading {
  const { uid, name, annotations, creationTimestamp: createdMs } = metadata;
  const rawKey = annotations[pubKeyAnnotation(rules.local)];
  const rawEndpoint = annotations[endpointAnnotation(rules.local)];
  if (rawKey === undefined && rawEndpoint === undefined) return { node: undefined, skipped: [NOT_ANNOTATED] };
  const isNamed = isDnsSubdomain(name);
  const key = rawKey === undefined ? HALF_ANNOTATED : readKey(rawKey);
  const dialsOut = rawEndpoint === undefined;
  const endpoint = dialsOut ? { value: undefined, skipped: [] } : readEndpoint(rawEndpoint, rules.endpoints);
  const blocks =
    rules.allowedIpsFrom === 'podCIDRs' ? readOwnBlocks(podCidrsOf(spec), rules) : { cidrs: [], skipped: [] };
  const planes = readPlanes(annotations[planesAnnotation(rules.local)], endpoint.value);
  const skipped = [
    ...problemOf('bad-name', isNamed ? [] : ['its name is not a valid Node name']),
    ...key.skipped,
    ...endpoint.skipped,
    ...blocks.skipped,
    ...planes.skipped,
    // It stays a peer: what was learned of it may still work.
    ...problemOf(
      'both-dial-out',
      dialsOut && rules.dialsOut ? ['it dials out, and so does our Node: they never meet'] : [],
    ),
  ];
  if (!isNamed || key.value === undefined || (endpoint.value === undefined && !dialsOut))
    return { node: undefined, skipped };
  const readyUntilMs = readyUntil(status);
  const node = {
    uid,
    name,
    createdMs,
    readyUntilMs,
    publicKey: key.value,
    endpoint: endpoint.value,
    podCidrs: blocks.cidrs,
    ...(planes.value !== undefined && { plane: planes.value }),
  };
  return { node, skipped };
}

function readyUntil({ conditions }: Node['status']): number {
  const ready = conditions.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' ? Infinity : (ready?.lastTransitionTime ?? 0);
}

type Reading<T = string> = { readonly value: T | undefined; readonly skipped: readonly Diagnostic[] };

function readKey(raw: string): Reading {
  const key = parsePublicKey(raw);
  return key.ok ? { value: key.value, skipped: [] } : refused('bad-key', `its public key is invalid: ${key.reason}`);
}

function readEndpoint(raw: string, rules: EndpointRules): Reading {
  const endpoint = parseEndpoint(raw);
  if (!endpoint.ok) return refused('bad-endpoint', `its endpoint is invalid: ${endpoint.reason}`);
  const refusal = refusalOf(endpoint.value, rules);
  return refusal === undefined
    ? { value: endpoint.value.text, skipped: [] }
    : refused('refused-endpoint', `its endpoint ${endpoint.value.text} is refused: ${refusal}`);
}

/**
 * The plane whose port an endpoint has. Neither: an older release announces itself now, which leaves the annotation as it was.
 *
 * @param endpoint as `readEndpoint` returns it
 */
function readPlanes(raw: string | undefined, endpoint: string | undefined): Reading<0 | 1> {
  if (raw === undefined || endpoint === undefined) return { value: undefined, skipped: [] };
  const ports = /^([1-9]\d{0,4}),([1-9]\d{0,4})$/.exec(raw)?.slice(1);
  if (ports === undefined || ports[0] === ports[1])
    return { value: undefined, skipped: problemOf('bad-planes', ['its planes are not two ports']) };
  const plane = ports.indexOf(endpoint.slice(endpoint.lastIndexOf(':') + 1));
  return { value: plane === -1 ? undefined : (plane as 0 | 1), skipped: [] };
}

const refused = (
  reason: string,
  detail: string,
): { readonly value: undefined; readonly skipped: readonly Diagnostic[] } => ({
  value: undefined,
  skipped: problemOf(reason, [detail]),
});

const HALF_ANNOTATED: Reading = refused('half-annotated', 'the annotation with its public key is missing');
