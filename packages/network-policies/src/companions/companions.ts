import { hash } from 'node:crypto';
import type { NetworkPolicyPort } from '@kube-semaphore/kube-objects';
import { companionName } from '../names.ts';
import { inOrder } from '@kube-semaphore/net';
import { distribute } from '../split-into-shards.ts';
import { type Companion, itemsOfRule, type ObservedCompanion, peersOf, type Source } from './companion.ts';
import type { CrossClusterRule, Direction } from '../policies/cross-cluster-rules.ts';
import { hasNamedPort, type PortGroup, resolvePorts, type SelectedPod } from '../policies/ports.ts';

/** What is known of a remote that some rule names. */
export type RemoteView =
  | {
      readonly cluster: string;
      readonly known: true;
      /** Its Pods that the peers of a rule select. */
      readonly podsOf: (rule: CrossClusterRule) => readonly SelectedPod[];
      /** Whether an address that it was granted before stays while it isn't known which Pod has it. Default: it doesn't. */
      readonly isHeld?: (cidr: string) => boolean;
    }
  | {
      readonly cluster: string;
      readonly known: false;
      /** Whether an address that it was granted before may still be granted. */
      readonly isAllowed: (cidr: string) => boolean;
    };

/** What of a companion decides: what it grants, and which shard it is. */
type Present = Companion & Pick<ObservedCompanion, 'shard'>;

export type CompanionsInput = {
  readonly source: Source;
  /** The remotes that a rule names, each with those rules. */
  readonly remotes: readonly { readonly view: RemoteView; readonly rules: readonly CrossClusterRule[] }[];
  /** The companions of the source. */
  readonly observed: readonly Present[];
  /** Whether an object that isn't ours has this name in the namespace of the source. */
  readonly isTaken: (name: string) => boolean;
  /** An integer >= 1. */
  readonly maxAddressesPerPolicy: number;
  /** An integer >= 1. */
  readonly maxAddressesPerSource: number;
  /** Of the sink. */
  readonly maxRules?: number | undefined;
};

export type CompanionDiagnostic = {
  readonly kind: 'expected' | 'problem';
  readonly reason: 'no-such-port' | 'too-many-addresses' | 'name-taken' | 'refused' | 'namespace-terminating';
  readonly remote: string;
  readonly detail: string;
};

export type DesiredCompanions = {
  readonly companions: readonly Companion[];
  readonly diagnostics: readonly CompanionDiagnostic[];
};

/**
 * The companions of one source as they should be.
 *
 * A known remote gets the addresses of the Pods that the rules select. An unknown one keeps what it was granted under the
 * same peers, on the ports of now: what a user takes away is gone at once, what a user adds waits until the remote is known.
 * An address stays in its shard. A rule without an address is not written, nor is a companion without a rule.
 */
export function desiredCompanions(input: CompanionsInput): DesiredCompanions {
  const observed = Map.groupBy(input.observed, ({ remote }) => remote);
  const parts = input.remotes.flatMap(({ view, rules }) =>
    (['ingress', 'egress'] as const).map((direction) =>
      partOf(view, direction, rules, observed.get(view.cluster) ?? []),
    ),
  );
  let room = Math.max(0, input.maxAddressesPerSource - parts.reduce((sum, { present }) => sum + present.size, 0));
  const companions: Companion[] = [];
  const diagnostics = parts.flatMap((part) => part.diagnostics);
  for (const part of parts) {
    const wanted = part.items.filter((item) => part.present.has(item) || room-- > 0);
    const missing = part.items.length - wanted.length;
    if (missing > 0) diagnostics.push(tooMany(part, missing, input.maxAddressesPerSource));
    const named = namesOf(part, input);
    const shards = distribute({ wanted, current: part.held, max: maxItems(part, input), isFree: () => true });
    for (const [shard, items] of shards) companions.push(companionOf(part, named(shard), new Set(items)));
    diagnostics.push(...named.diagnostics());
  }
  return { companions, diagnostics };
}

/** NetworkPolicies know TCP, UDP and SCTP. */
const PROTOCOLS = 3;

/** How many addresses a companion may have, so that its rules, one per protocol, stay below the limit of the sink. */
function maxItems({ grants }: Part, { maxAddressesPerPolicy, maxRules = Infinity }: CompanionsInput): number {
  const rules = PROTOCOLS * grants.reduce((sum, { groups }) => sum + groups.length, 0);
  return rules <= maxRules ? maxAddressesPerPolicy : Math.min(maxAddressesPerPolicy, Math.floor(maxRules / PROTOCOLS));
}

/** What one rule grants to a remote: groups of addresses, each on its ports, in the order of `mergedByPorts`. */
type Grant = {
  readonly rule: CrossClusterRule;
  readonly text: string;
  readonly groups: readonly PortGroup[];
  /** Named ports that no selected Pod has. */
  readonly missing: readonly string[];
};

/** One direction of one remote. An item is an address under the peers of a rule: `<peersHash> <cidr>`. */
type Part = {
  readonly remote: string;
  readonly direction: Direction;
  readonly grants: readonly Grant[];
  /** Each once, in the order in which they are to be listed. */
  readonly items: readonly string[];
  /** Those of them that some shard has. */
  readonly present: ReadonlySet<string>;
  /** What each shard has. */
  readonly held: ReadonlyMap<number, ReadonlySet<string>>;
  readonly diagnostics: readonly CompanionDiagnostic[];
};

function partOf(
  view: RemoteView,
  direction: Direction,
  rules: readonly CrossClusterRule[],
  observed: readonly Present[],
): Part {
  const present = observed.filter((each) => each.direction === direction);
  const grants = rules.filter((rule) => rule.direction === direction).map((rule) => grantOf(rule, present, view));
  const items = grants.flatMap(({ rule, groups }) => sortedCidrs(groups).map((cidr) => itemOf(rule, cidr)));
  const held = new Map(present.map(({ shard, rules: of }) => [shard, new Set(of.flatMap(itemsOfRule))]));
  const shards = [...held.values()];
  return {
    remote: view.cluster,
    direction,
    grants,
    items,
    present: new Set(items.filter((item) => shards.some((shard) => shard.has(item)))),
    held,
    diagnostics: grants.flatMap(({ missing }) => missing.map((port) => noSuchPort(view.cluster, port))),
  };
}

function grantOf(rule: CrossClusterRule, present: readonly Present[], view: RemoteView): Grant {
  const { groups, missing } = view.known ? granted(rule, view.podsOf(rule)) : { groups: [], missing: [] };
  const stays = view.known ? view.isHeld : view.isAllowed;
  const before = stays === undefined ? [] : retained(rule, present, stays);
  return { rule, text: ruleText(rule), groups: mergedByPorts([...groups, ...before]), missing };
}

/** A name of a port means one of the subject's ports on ingress, and one of the peer's on egress. */
function granted(
  { direction, ports }: CrossClusterRule,
  pods: readonly SelectedPod[],
): Pick<Grant, 'groups' | 'missing'> {
  if (direction === 'egress' && hasNamedPort(ports)) return resolvePorts(ports, pods);
  return { groups: [{ ports, cidrs: pods.flatMap(({ cidrs }) => cidrs) }], missing: [] };
}

/**
 * What stays of earlier grants. Which number a named port of egress has can't be known either, so earlier numbers stay while
 * the ports of the rule are the same; if they changed, only the numbers of the rule count.
 */
function retained(
  rule: CrossClusterRule,
  present: readonly Present[],
  stays: (cidr: string) => boolean,
): readonly PortGroup[] {
  const text = ruleText(rule);
  const before = present.flatMap(({ rules }) => rules.filter((each) => peersOf(each.text) === rule.peersHash));
  const isResolved = text !== rule.peersHash;
  return before.flatMap(({ text: textBefore, ports, cidrs }) => {
    const now = !isResolved ? rule.ports : textBefore === text ? ports : numbersOf(rule.ports);
    // A rule without ports would open all of them.
    return isResolved && now.length === 0 ? [] : [{ ports: now, cidrs: cidrs.filter(stays) }];
  });
}

const numbersOf = (ports: readonly NetworkPolicyPort[]): readonly NetworkPolicyPort[] =>
  ports.filter(({ port }) => typeof port !== 'string');

/** Names the peers of a rule; where its ports are resolved, the ports too: `<peersHash>/<hash of the ports>`. */
function ruleText({ direction, ports, peersHash }: CrossClusterRule): string {
  if (direction === 'ingress' || !hasNamedPort(ports)) return peersHash;
  return `${peersHash}/${hash('sha256', JSON.stringify(ports), 'hex').slice(0, 10)}`;
}

const itemOf = ({ peersHash }: CrossClusterRule, cidr: string): string => `${peersHash} ${cidr}`;

function companionOf({ remote, direction, grants }: Part, name: string, items: ReadonlySet<string>): Companion {
  const rules = grants.flatMap(({ rule, text, groups }) =>
    groups.flatMap(({ ports, cidrs }) => {
      const here = cidrs.filter((cidr) => items.has(itemOf(rule, cidr)));
      return here.length === 0 ? [] : [{ text, ports, cidrs: here }];
    }),
  );
  return { name, remote, direction, rules };
}

/** One group for each list of ports, its addresses sorted and each once; sorted by ports, so that equal input gives equal output. */
function mergedByPorts(groups: readonly PortGroup[]): readonly PortGroup[] {
  const byPorts = Map.groupBy(groups, ({ ports }) => JSON.stringify(ports));
  return [...byPorts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, same]) => ({
      ports: same[0]!.ports,
      cidrs: inOrder(same.flatMap(({ cidrs }) => cidrs)),
    }));
}

/** @param groups merged, so that the addresses of one group are in order already */
function sortedCidrs(groups: readonly PortGroup[]): readonly string[] {
  if (groups.length === 1) return groups[0]!.cidrs;
  return inOrder(groups.flatMap(({ cidrs }) => cidrs));
}

/** Finds a name for each shard, and tells which names others have. */
function namesOf({ remote, direction }: Part, { source, isTaken }: CompanionsInput) {
  const taken = new Set<string>();
  const find = (shard: number): string => {
    for (let attempt = 0; ; attempt++) {
      const name = companionName({ policy: source.name, remote, direction }, { shard, attempt });
      if (!isTaken(name)) return name;
      taken.add(name);
    }
  };
  return Object.assign(find, { diagnostics: () => Array.from(taken, (name) => nameTaken(remote, name)) });
}

const noSuchPort = (remote: string, port: string): CompanionDiagnostic => ({
  kind: 'problem',
  reason: 'no-such-port',
  remote,
  detail: `no selected Pod has a port with the name ${port}`,
});

const tooMany = ({ remote }: Part, missing: number, limit: number): CompanionDiagnostic => ({
  kind: 'problem',
  reason: 'too-many-addresses',
  remote,
  detail: `${missing} addresses are not added: the policy already has ${limit} (-max-addresses-per-source)`,
});

const nameTaken = (remote: string, name: string): CompanionDiagnostic => ({
  kind: 'problem',
  reason: 'name-taken',
  remote,
  detail: `an object that is not ours has the name ${name}, so the companion has another`,
});
