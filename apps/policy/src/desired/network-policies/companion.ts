import { hash10 } from '@kube-semaphore/naming';
import {
  companionClusterLabel,
  companionGenerationAnnotation,
  companionLabel,
  companionPeersAnnotation,
  companionSourceKey,
} from '../../names.ts';
import type { Direction, PolicyPort } from './cross-cluster-rules.ts';
import type { Labels, LabelSelector, Requirement } from './selector.ts';

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
  readonly ports: readonly PolicyPort[];
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

/** The body of a companion, as the API server stores it. */
export type CompanionManifest = {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly labels: Labels;
    readonly annotations: Labels;
    readonly ownerReferences: readonly OwnerReference[];
  };
  readonly spec: CompanionSpec;
};

type OwnerReference = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
};

type CompanionSpec = {
  readonly podSelector: SelectorManifest;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly RuleManifest[];
  readonly egress?: readonly RuleManifest[];
};

type RuleManifest = {
  readonly ports?: readonly { readonly protocol: string; readonly port?: number | string; readonly endPort?: number }[];
  readonly from?: readonly PeerManifest[];
  readonly to?: readonly PeerManifest[];
};

type PeerManifest = { readonly ipBlock: { readonly cidr: string } };

type SelectorManifest = {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly (Omit<Requirement, 'values'> & { readonly values?: readonly string[] })[];
};

/** Which manifest makes a companion what it should be. */
export function manifestOf(source: Source, { name, remote, direction, rules }: Companion): CompanionManifest {
  if (rules.some(({ cidrs }) => cidrs.length === 0)) throw new Error(`${name}: a rule without peers lets everybody in`);
  return {
    metadata: {
      namespace: source.namespace,
      name,
      labels: {
        [companionLabel]: 'semaphore-policy',
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
      podSelector: selectorManifest(source.podSelector),
      policyTypes: [direction === 'ingress' ? 'Ingress' : 'Egress'],
      [direction]: rules.map((rule) => ruleManifest(direction, rule)),
    },
  };
}

function selectorManifest({ matchLabels, matchExpressions }: LabelSelector): SelectorManifest {
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

function ruleManifest(direction: Direction, { ports, cidrs }: CompanionRule): RuleManifest {
  const peers = cidrs.map((cidr) => ({ ipBlock: { cidr } }));
  return {
    ...(ports.length === 0 ? {} : { ports: ports.map(portManifest) }),
    [direction === 'ingress' ? 'from' : 'to']: peers,
  };
}

const portManifest = ({ protocol, port, endPort }: PolicyPort) => ({
  protocol,
  ...(port === undefined ? {} : { port }),
  ...(endPort === undefined ? {} : { endPort }),
});
