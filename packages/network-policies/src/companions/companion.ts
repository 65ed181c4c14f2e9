import { hash } from 'node:crypto';
import {
  asRecord,
  type CustomResource,
  type customResourceKind,
  type Kind,
  type LabelSelector,
  type NetworkPolicy,
  networkPolicyKind,
  type NetworkPolicyPort,
  type WrittenMetadata,
  type WrittenNetworkPolicy,
} from '@kube-semaphore/kube-objects';
import { hash10 } from '@kube-semaphore/naming';
import {
  companionClusterLabel,
  companionGenerationAnnotation,
  companionLabel,
  companionPeersAnnotation,
  companionSourceKey,
} from '../names.ts';
import type { Direction } from '../policies/cross-cluster-rules.ts';
import { type Labels, sortedByKey } from '../policies/selector.ts';

export const MANAGER = 'semaphore-policy';

/** The NetworkPolicy of a user from which companions are made. */
export type Source = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly podSelector: LabelSelector;
};

export function sourceOf({ metadata, spec }: NetworkPolicy): Source {
  const { namespace, name, uid, generation } = metadata;
  return { namespace, name, uid, generation, podSelector: spec.podSelector };
}

/** What one companion allows to the peers of one rule, on the same ports. */
export type CompanionRule = {
  /** Names the peers, and with named ports of egress the ports too: see `ruleText`. */
  readonly text: string;
  /** Empty: all ports. */
  readonly ports: readonly NetworkPolicyPort[];
  /** Canonical `/32` and `/128`, sorted; at least one. In the policy of a sink with groups: the name of a group. */
  readonly cidrs: readonly string[];
};

/** The peers that a rule's text names: their hash. */
export const peersOf = (text: string): string => text.split('/')[0]!;

/** Its addresses, each under its peers, whatever the ports are: `<peersHash> <cidr>`. */
export const itemsOfRule = ({ text, cidrs }: CompanionRule): readonly string[] =>
  cidrs.map((cidr) => `${peersOf(text)} ${cidr}`);

/**
 * A policy of ours that adds the Pods of one remote to one direction of a user's NetworkPolicy, by their addresses.
 * It selects the same Pods and covers one direction, so it never isolates a Pod that the source doesn't isolate.
 */
export type Companion = {
  readonly name: string;
  readonly remote: string;
  readonly direction: Direction;
  /** At least one: a rule without peers would let everybody in. */
  readonly rules: readonly CompanionRule[];
};

/** A companion as it lies in the local cluster: one object, or a policy and the groups of addresses that it refers to. */
export type ObservedCompanion = Companion & {
  readonly shard: number;
  /** The name of its source; of a group: `namespace/name`. */
  readonly source: string;
  readonly object: CompanionObject;
  readonly resource: Kind;
  /** `whole`: a companion by itself. */
  readonly part: 'whole' | 'policy' | 'group';
};

/** What is kept of an object: of its spec only a digest, as `rules` has the addresses. */
export type CompanionObject = Pick<CustomResource, 'metadata'> & { readonly digest: string };

export const keptObject = ({
  metadata,
  spec,
  specs,
}: Pick<CustomResource, 'metadata'> & { readonly spec: unknown; readonly specs?: unknown }): CompanionObject => ({
  metadata,
  digest: digestOf({ spec, specs }),
});

/** An object to write for a companion, or for a part of it. */
export type WrittenObject = { readonly metadata: WrittenMetadata; readonly spec: unknown };

/** One object of a companion, and what it grants. */
export type CompanionPart = {
  readonly resource: Kind;
  readonly companion: Companion;
  readonly to: WrittenObject;
};

/** The kind of objects that companions are: `-network-policy-sink`. */
export type Sink = {
  /** What it writes besides NetworkPolicies, in the order of creation. */
  readonly resources: readonly ReturnType<typeof customResourceKind>[];
  /** The objects of a companion, in the order of creation. */
  readonly partsOf: (source: Source, companion: Companion) => readonly CompanionPart[];
  /** False if the CNI may refuse its objects for this source, whose selector is too long: its companions are NetworkPolicies. */
  readonly accepts: (source: Source) => boolean;
  /** How many rules a policy may have, each for one protocol. Default: any number. */
  readonly maxRules?: number;
  /** Reads an object of its resources; undefined if it isn't ours. */
  readonly read: (resource: Kind, object: CustomResource) => ObservedCompanion | undefined;
  /** The name of the policy of a companion. */
  readonly policyName: (companion: string) => string;
};

/** Whether an object is a companion, or a part of one: ours, and never a source. */
export const isCompanion = ({ metadata }: Pick<CustomResource, 'metadata'>): boolean =>
  metadata.labels[companionLabel] === MANAGER;

/** Reads a companion. What somebody broke by hand reads as a companion without rules, which is then written anew. */
export function observedCompanion(object: NetworkPolicy): ObservedCompanion {
  const { name, labels, annotations } = object.metadata;
  const direction = object.spec.policyTypes.includes('Egress') ? 'egress' : 'ingress';
  const texts = ruleTexts(annotations[companionPeersAnnotation]);
  const peers =
    direction === 'ingress' ? object.spec.ingress.map(({ from }) => from) : object.spec.egress.map(({ to }) => to);
  const rules = object.spec[direction].flatMap(({ ports }, i) => {
    const text = texts[i];
    return text === undefined ? [] : [{ text, ports, cidrs: peers[i]!.map(({ ipBlock }) => ipBlock.cidr) }];
  });
  return {
    name,
    remote: labels[companionClusterLabel] ?? '',
    direction,
    rules,
    shard: shardOf(name),
    source: annotations[companionSourceKey] ?? '',
    object: keptObject(object),
    resource: networkPolicyKind,
    part: 'whole',
  };
}

export const shardOf = (name: string): number => Number(/-s(\d{1,6})$/.exec(name)?.[1] ?? 0);

/** The `namespace/name` of the source of a companion, or of a part of one. */
export const sourceKeyOf = ({ source, object: { metadata } }: ObservedCompanion): string =>
  source.includes('/') ? source : `${metadata.namespace}/${source}`;

function ruleTexts(annotation: string | undefined): readonly (string | undefined)[] {
  const texts = parsed(annotation);
  return Array.isArray(texts) ? texts.map((text) => (typeof text === 'string' ? text : undefined)) : [];
}

/** Undefined if it isn't JSON: people can edit it. */
export function parsed(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a companion is as we write it. Labels and annotations of others may stay; anything else in its spec may not. */
export function isWritten({ metadata, spec }: WrittenObject, observed: CompanionObject): boolean {
  const has = (all: Labels, ours: Labels = {}): boolean =>
    Object.entries(ours).every(([key, value]) => all[key] === value);
  const { ownerReferences: owners = [] } = metadata;
  return (
    has(observed.metadata.labels, metadata.labels) &&
    has(observed.metadata.annotations, metadata.annotations) &&
    observed.metadata.ownerReferences.length === owners.length &&
    observed.metadata.ownerReferences.every(({ uid }, i) => uid === owners[i]?.uid) &&
    observed.digest === digestOf({ spec })
  );
}

/** In a list, as an empty value has no JSON. */
const digestOf = (value: unknown): string => hash('sha256', JSON.stringify([normal(value)]), 'base64');

/**
 * The same for values that differ in the order of keys, or in fields that are absent or empty: these mean the same in a spec.
 *
 * @returns undefined for what is absent or empty
 */
function normal(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === '' || value === 0 ? undefined : value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((each) => normal(each) ?? each);
  const fields = sortedByKey(asRecord(value));
  let result: Record<string, unknown> | undefined;
  for (const key in fields) {
    const inner = normal(fields[key]);
    if (inner !== undefined) (result ??= {})[key] = inner;
  }
  return result;
}

/** The metadata of a companion, or of its policy. */
export function companionMetadata(
  source: Source,
  { name, remote, rules }: Companion,
  annotations: Labels,
): WrittenMetadata {
  if (rules.some(({ cidrs }) => cidrs.length === 0)) throw new Error(`${name}: a rule without peers lets everybody in`);
  return {
    namespace: source.namespace,
    name,
    labels: {
      [companionLabel]: MANAGER,
      [companionClusterLabel]: remote,
      [companionSourceKey]: hash10('', source.namespace, source.name),
    },
    annotations: {
      [companionSourceKey]: source.name,
      [companionGenerationAnnotation]: String(source.generation),
      ...annotations,
    },
    // Neither `controller` nor `blockOwnerDeletion`: the latter needs a right on finalizers.
    ownerReferences: [
      { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: source.name, uid: source.uid },
    ],
  };
}

/** A companion to write, as a NetworkPolicy. */
export function writtenCompanion(source: Source, companion: Companion): WrittenNetworkPolicy {
  const { direction, rules } = companion;
  return {
    metadata: companionMetadata(source, companion, {
      [companionPeersAnnotation]: JSON.stringify(rules.map(({ text }) => text)),
    }),
    spec: {
      podSelector: writtenSelector(source.podSelector),
      policyTypes: [direction === 'ingress' ? 'Ingress' : 'Egress'],
      [direction]: rules.map((rule) => writtenRule(direction, rule)),
    },
  };
}

function writtenSelector({
  matchLabels,
  matchExpressions,
}: LabelSelector): WrittenNetworkPolicy['spec']['podSelector'] {
  return {
    ...(Object.keys(matchLabels).length === 0 ? {} : { matchLabels }),
    ...(matchExpressions.length === 0
      ? {}
      : {
          matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
            key,
            operator,
            ...(values.length === 0 ? {} : { values }),
          })),
        }),
  };
}

function writtenRule(direction: Direction, { ports, cidrs }: CompanionRule) {
  const peers = cidrs.map((cidr) => ({ ipBlock: { cidr } }));
  const written = ports.map(({ protocol, port, endPort }) => ({
    protocol,
    ...(port === 0 ? {} : { port }),
    ...(endPort === 0 ? {} : { endPort }),
  }));
  return {
    ...(ports.length === 0 ? {} : { ports: written }),
    ...(direction === 'ingress' ? { from: peers } : { to: peers }),
  };
}

/** NetworkPolicies, which every CNI enforces. */
export const networkPolicySink: Sink = {
  resources: [],
  partsOf: (source, companion) => [{ resource: networkPolicyKind, companion, to: writtenCompanion(source, companion) }],
  read: () => undefined,
  accepts: () => true,
  policyName: (companion) => companion,
};
