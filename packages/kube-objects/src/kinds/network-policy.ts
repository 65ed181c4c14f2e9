import {
  int,
  intOrString,
  message,
  messages,
  optionalMessage,
  type Projected,
  string,
  stringMap,
  strings,
  time,
} from '../fields.ts';
import type { Kind, KubeObject } from '../kind.ts';
import { ownedMetadata, type WrittenMetadata } from './metadata.ts';

/** Numbers from k8s.io/api/networking/v1/generated.proto and k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto. */
export const labelSelector = {
  matchLabels: stringMap(1),
  matchExpressions: messages(2, { key: string(1), operator: string(2), values: strings(3) }),
} as const;

const peer = {
  podSelector: message(1, labelSelector),
  namespaceSelector: optionalMessage(2, labelSelector),
  ipBlock: message(3, { cidr: string(1), except: strings(2) }),
} as const;

const port = { protocol: string(1), port: intOrString(2), endPort: int(3) } as const;

/** The API server bounds neither rules nor peers; etcd bounds the whole. */
const MOST = 100_000;

/**
 * A NetworkPolicy. A `port` of 0 means all ports of the protocol, an `endPort` of 0 means none. A peer without
 * `namespaceSelector` is about the namespace of the policy; a `podSelector` that is absent means the same as an empty one.
 * A peer with `ipBlock` has a `cidr`.
 */
export const networkPolicyKind = {
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  protobuf: true,
  fields: {
    metadata: message(1, { ...ownedMetadata, generation: int(7) }),
    spec: message(2, {
      podSelector: message(1, labelSelector),
      ingress: messages(2, { ports: messages(1, port, MOST), from: messages(2, peer, MOST) }, MOST),
      egress: messages(3, { ports: messages(1, port, MOST), to: messages(2, peer, MOST) }, MOST),
      policyTypes: strings(4, 2),
    }),
  },
} as const satisfies Kind;

export type NetworkPolicy = KubeObject<typeof networkPolicyKind>;

/** With the times of its writes, one for each of their managers. */
export const networkPolicyWithTimesKind = {
  ...networkPolicyKind,
  fields: {
    ...networkPolicyKind.fields,
    metadata: message(1, {
      ...networkPolicyKind.fields.metadata.fields,
      managedFields: messages(17, { time: time(4) }),
    }),
  },
} as const satisfies Kind;

/** An empty one selects everything. */
export type LabelSelector = Projected<typeof labelSelector>;

export type NetworkPolicyPort = Projected<typeof port>;

export type NetworkPolicyPeer = Projected<typeof peer>;

/** A selector to write. A field without a value is not written. */
type WrittenSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
};

type WrittenPeers = readonly { readonly ipBlock: { readonly cidr: string } }[];

/** A rule to write, with `from` on ingress and `to` on egress: addresses, never selectors. */
type WrittenRule = { readonly ports?: readonly Partial<NetworkPolicyPort>[] } & (
  | { readonly from: WrittenPeers }
  | { readonly to: WrittenPeers }
);

/** A NetworkPolicy to write. */
export type WrittenNetworkPolicy = {
  readonly metadata: WrittenMetadata;
  readonly spec: {
    readonly podSelector: WrittenSelector;
    readonly policyTypes: readonly string[];
    readonly ingress?: readonly WrittenRule[];
    readonly egress?: readonly WrittenRule[];
  };
};
