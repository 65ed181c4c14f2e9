import { asRecord, type customResourceKind, type Kind, type NetworkPolicyPort } from '@kube-semaphore/kube-objects';
import {
  companionClusterLabel,
  companionGroupName,
  companionLabel,
  companionPeerLabel,
  companionRulesAnnotation,
  companionSourceKey,
} from '../names.ts';
import {
  type Companion,
  companionMetadata,
  type CompanionPart,
  isCompanion,
  keptObject,
  MANAGER,
  type ObservedCompanion,
  parsed,
  shardOf,
  type Sink,
  type Source,
} from '../companions/companion.ts';
import type { Direction } from '../policies/cross-cluster-rules.ts';

/** What a policy allows to a group of addresses. Empty ports: all. */
type GroupRule = { readonly ports: readonly NetworkPolicyPort[]; readonly group: string; readonly peer: string };

export type GroupedSinkInput = Pick<Sink, 'policyName' | 'accepts' | 'maxRules'> & {
  readonly groups: ReturnType<typeof customResourceKind>;
  readonly policies: ReturnType<typeof customResourceKind>;
  /** Where the spec of a group has its addresses. */
  readonly addresses: string;
  readonly policySpec: (source: Source, direction: Direction, rules: readonly GroupRule[]) => object;
};

/**
 * A sink whose policies refer to groups of addresses: one group for each rule, which no other companion uses. So a Pod that
 * comes or goes changes a group, and the CNI doesn't compile the policy again.
 */
export function groupedSink({ groups, policies, addresses, policySpec, ...rest }: GroupedSinkInput): Sink {
  const partsOf = (source: Source, companion: Companion): readonly CompanionPart[] => {
    const { remote, direction, rules } = companion;
    const named = rules.map((rule) => ({ ...rule, ...companionGroupName(source.namespace, companion.name, rule) }));
    const metadata = companionMetadata(source, companion, {
      [companionRulesAnnotation]: JSON.stringify({
        direction,
        rules: named.map(({ text, ports, group }) => ({ text, ports, group })),
      }),
    });
    const policy = { ...companion, rules: named.map(({ text, ports, group }) => ({ text, ports, cidrs: [group] })) };
    return [
      ...named.map(({ text, cidrs, group, peer }) => ({
        resource: groups,
        companion: { name: group, remote, direction, rules: [{ text, ports: [], cidrs }] },
        to: {
          metadata: {
            name: group,
            // A label more, and a policy of a user could select the group by it.
            labels: { [companionLabel]: MANAGER, [companionPeerLabel]: peer },
            annotations: {
              [companionClusterLabel]: remote,
              [companionSourceKey]: `${source.namespace}/${source.name}`,
            },
          },
          spec: { [addresses]: cidrs },
        },
      })),
      {
        resource: policies,
        companion: policy,
        to: {
          metadata: { ...metadata, name: rest.policyName(companion.name) },
          spec: policySpec(source, direction, named),
        },
      },
    ];
  };
  return {
    ...rest,
    resources: [groups, policies],
    partsOf,
    read: (resource, object) => {
      if (!isCompanion(object)) return undefined;
      const { name, labels, annotations } = object.metadata;
      const source = annotations[companionSourceKey] ?? '';
      const common = { source, object: keptObject(object), resource, shard: shardOf(name) };
      if (resource === groups) {
        const cidrs = stringsOf(asRecord(object.spec)[addresses]);
        const rules = cidrs.length === 0 ? [] : [{ text: '', ports: [], cidrs }];
        const remote = annotations[companionClusterLabel] ?? '';
        return { ...common, name, remote, direction: 'ingress', rules, part: 'group' };
      }
      const remote = labels[companionClusterLabel] ?? '';
      return { ...common, name, remote, ...rulesIn(annotations[companionRulesAnnotation]), part: 'policy' };
    },
  };
}

/** What somebody broke by hand reads as a policy without rules, which is then written anew. */
function rulesIn(annotation: string | undefined): Pick<Companion, 'direction' | 'rules'> {
  const { direction, rules } = asRecord(parsed(annotation));
  const read = (Array.isArray(rules) ? rules : []).flatMap((rule) => {
    const { text, ports, group } = asRecord(rule);
    if (typeof text !== 'string' || typeof group !== 'string' || !Array.isArray(ports)) return [];
    return [{ text, ports: ports as readonly NetworkPolicyPort[], cidrs: [group] }];
  });
  return { direction: direction === 'egress' ? 'egress' : 'ingress', rules: read };
}

const stringsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : []).filter((each) => typeof each === 'string');

/** The companions that the objects of one source make up, each with the addresses that it allows. */
export function wholeCompanions(objects: readonly ObservedCompanion[]): readonly ObservedCompanion[] {
  // While one sink takes the place of another, both have groups of one name.
  const idOf = ({ group }: Kind, name: string): string => `${group}/${name}`;
  const groups = new Map(
    objects.flatMap(({ part, resource, name, rules }) => (part === 'group' ? [[idOf(resource, name), rules]] : [])),
  );
  return objects.flatMap((object) => {
    if (object.part === 'group') return [];
    if (object.part === 'whole') return [object];
    const rules = object.rules.flatMap(({ text, ports, cidrs: [group = ''] }) =>
      (groups.get(idOf(object.resource, group)) ?? []).map(({ cidrs }) => ({ text, ports, cidrs })),
    );
    return [{ ...object, rules }];
  });
}
