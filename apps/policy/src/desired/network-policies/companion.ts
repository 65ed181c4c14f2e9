import { isDeepStrictEqual } from 'node:util';
import {
  type LabelSelector,
  type NetworkPolicy,
  type NetworkPolicyPort,
  type WrittenNetworkPolicy,
} from '@kube-semaphore/kube-objects';
import { hash10 } from '@kube-semaphore/naming';
import {
  companionClusterLabel,
  companionGenerationAnnotation,
  companionLabel,
  companionPeersAnnotation,
  companionSourceKey,
} from '../../names.ts';
import type { Direction } from './cross-cluster-rules.ts';
import type { Labels } from './selector.ts';

const MANAGER = 'semaphore-policy';

/** The NetworkPolicy of a user from which companions are made. */
export type Source = {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly podSelector: LabelSelector;
};

/** What one companion allows to the peers of one rule, on the same ports. */
export type CompanionRule = {
  /** Names the peers, and with named ports of egress the ports too: see `ruleText`. */
  readonly text: string;
  /** Empty: all ports. */
  readonly ports: readonly NetworkPolicyPort[];
  /** Canonical `/32` and `/128`, sorted; at least one. */
  readonly cidrs: readonly string[];
};

/**
 * A NetworkPolicy of ours that adds the Pods of one remote to one direction of a user's NetworkPolicy, by their addresses.
 * It selects the same Pods and covers one direction, so it never isolates a Pod that the source doesn't isolate.
 */
export type Companion = {
  readonly name: string;
  readonly remote: string;
  readonly direction: Direction;
  /** At least one: a rule without peers would let everybody in. */
  readonly rules: readonly CompanionRule[];
};

/** A companion as it lies in the local cluster. */
export type ObservedCompanion = Companion & {
  readonly shard: number;
  readonly source: string;
  readonly object: NetworkPolicy;
};

/** Whether a NetworkPolicy is a companion: ours, and never a source. */
export const isCompanion = ({ metadata }: NetworkPolicy): boolean => metadata.labels[companionLabel] === MANAGER;

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
    shard: Number(/-s(\d{1,6})$/.exec(name)?.[1] ?? 0),
    source: annotations[companionSourceKey] ?? '',
    object,
  };
}

function ruleTexts(annotation: string | undefined): readonly (string | undefined)[] {
  const texts = parsed(annotation);
  return Array.isArray(texts) ? texts.map((text) => (typeof text === 'string' ? text : undefined)) : [];
}

/** Undefined if it isn't JSON: people can edit it. */
function parsed(text = ''): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a companion is as we write it. Labels and annotations of others may stay; anything else in its spec may not. */
export function isWritten({ metadata, spec }: WrittenNetworkPolicy, observed: NetworkPolicy): boolean {
  const has = (all: Labels, ours: Labels = {}): boolean =>
    Object.entries(ours).every(([key, value]) => all[key] === value);
  const [owner] = observed.metadata.ownerReferences;
  return (
    has(observed.metadata.labels, metadata.labels) &&
    has(observed.metadata.annotations, metadata.annotations) &&
    observed.metadata.ownerReferences.length === 1 &&
    owner?.uid === metadata.ownerReferences?.[0]?.uid &&
    isDeepStrictEqual(withoutZeros(observed.spec), withoutZeros(spec))
  );
}

/** Absent and empty mean the same in every field of a spec that we write. */
function withoutZeros(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutZeros);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, inner]) => [key, withoutZeros(inner)] as const);
  return Object.fromEntries(fields.filter(([, inner]) => !isZero(inner)));
}

const isZero = (value: unknown): boolean =>
  value === 0 || value === '' || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** A companion to write. */
export function writtenCompanion(source: Source, { name, remote, direction, rules }: Companion): WrittenNetworkPolicy {
  if (rules.some(({ cidrs }) => cidrs.length === 0)) throw new Error(`${name}: a rule without peers lets everybody in`);
  return {
    metadata: {
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
        [companionPeersAnnotation]: JSON.stringify(rules.map(({ text }) => text)),
      },
      // Neither `controller` nor `blockOwnerDeletion`: the latter needs a right on finalizers.
      ownerReferences: [
        { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', name: source.name, uid: source.uid },
      ],
    },
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
