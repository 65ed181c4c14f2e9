import { type Kind, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { companionGenerationAnnotation } from '../names.ts';
import { compareNames } from '@kube-semaphore/naming';
import {
  type Companion,
  type CompanionPart,
  isWritten,
  networkPolicySink,
  type ObservedCompanion,
  peersOf,
  type Sink,
  type Source,
} from './companion.ts';

/** A write of one object: a companion, or a part of one. */
export type CompanionChange =
  | ({ readonly kind: 'create' } & CompanionPart)
  /** `to` has the UID and the resourceVersion of `from`, and the labels, annotations and finalizers of others. */
  | ({ readonly kind: 'update'; readonly from: ObservedCompanion } & CompanionPart)
  /** To be sent with the UID and the resourceVersion of `from` as preconditions. */
  | { readonly kind: 'delete'; readonly from: ObservedCompanion };

/** Changes that may be written in parallel; the next phase waits for their success. */
export type CompanionPhase = readonly CompanionChange[];

/**
 * The writes that turn the observed companions of a source into the desired ones. What adds comes first, so that an address
 * which moves to another shard is allowed all the time; what only removes comes late, deletions last. A group is there
 * before the policy that refers to it, and until that is gone. Companions of another sink go when those of this one are there.
 *
 * @param observed all objects of the source's companions
 */
export function diffCompanions(
  source: Source,
  observed: readonly ObservedCompanion[],
  desired: readonly Companion[],
  sink: Sink = networkPolicySink,
): readonly CompanionPhase[] {
  return inPhases([changesByEffect(source, observed, desired, sink)]);
}

/** The phases of the changes of several remotes, each with its own companions. */
export const inPhases = (all: readonly ChangesByEffect[]): readonly CompanionPhase[] =>
  EFFECTS.map((effect) => all.flatMap((changes) => changes[effect] ?? [])).filter((phase) => phase.length > 0);

/** As `diffCompanions`, by what the changes do; without what nothing does. */
export function changesByEffect(
  source: Source,
  observed: readonly ObservedCompanion[],
  desired: readonly Companion[],
  sink: Sink,
): ChangesByEffect {
  const parts = desired.toSorted(compareNames).flatMap((companion) => sink.partsOf(source, companion));
  const existing = new Map(observed.map((from) => [idOf(from.resource, from.object.metadata.name), from]));
  const wanted = new Set(parts.map(({ resource, to }) => idOf(resource, to.metadata.name)));
  const changes: Partial<Record<Effect, CompanionChange[]>> = {};
  const push = (effect: Effect, change: CompanionChange): void => void (changes[effect] ??= []).push(change);
  for (const part of parts) {
    const from = existing.get(idOf(part.resource, part.to.metadata.name));
    const adding = sink.resources.length > 1 && part.resource === sink.resources[0] ? 'addGroups' : 'add';
    if (from === undefined) push(adding, { kind: 'create', ...part });
    else if (!isWritten(part.to, from.object)) {
      const effect = effectOf(from, part.companion);
      push(effect === 'add' ? adding : effect, update(from, part));
    }
  }
  for (const from of observed.toSorted(compareNames))
    if (!wanted.has(idOf(from.resource, from.object.metadata.name)))
      push(from.part === 'group' ? 'deleteGroups' : 'delete', { kind: 'delete', from });
  return changes;
}

/** The deletions of the companions of a source that is gone. */
export function withoutSource(observed: readonly ObservedCompanion[]): readonly CompanionPhase[] {
  const [groups, others] = [true, false].map((isGroup) =>
    observed.filter(({ part }) => (part === 'group') === isGroup).map((from) => ({ kind: 'delete', from }) as const),
  );
  return [others!, groups!].filter((phase) => phase.length > 0);
}

/** In the order of the phases. */
const EFFECTS = ['addGroups', 'add', 'change', 'remove', 'delete', 'deleteGroups'] as const;
type Effect = (typeof EFFECTS)[number];

export type ChangesByEffect = Readonly<Partial<Record<Effect, readonly CompanionChange[]>>>;

/** Of the objects of one source, whose policies are in one namespace. */
const idOf = ({ group, plural }: Kind, name: string): string => `${plural}.${group}/${name}`;

/**
 * Whether a change must not wait for the budget of its remote: it only takes away, or a user changed the source, who must
 * not wait for what a remote does.
 */
export function isUrgent(change: CompanionChange): boolean {
  if (change.kind !== 'update') return change.kind === 'delete';
  const generation = change.to.metadata.annotations?.[companionGenerationAnnotation];
  return generationOf(change.from) !== generation || addressChanges(change).added === 0;
}

/** Whether a change replaces what was written for an earlier spec of the source. */
export const isOutdated = (change: CompanionChange, { generation }: Pick<Source, 'generation'>): boolean =>
  change.kind !== 'create' && change.from.part !== 'group' && generationOf(change.from) !== String(generation);

/**
 * Tells which changes of a source may be written even if others of it can't: what an earlier spec allowed goes, and so does an
 * address that no other change adds for the same peers: it doesn't move. A policy waits for the groups that it refers to.
 */
export function independentOf(phases: readonly CompanionPhase[], source: Source): (change: CompanionChange) => boolean {
  let added: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  return (change) => {
    if (isOutdated(change, source)) return true;
    if (change.kind === 'create' || change.from.part === 'policy') return false;
    added ??= usesByAddress(phases.flat().flatMap((each) => grantsIn(each).added));
    return grantsIn(change).removed.every(({ address, use }) => {
      const uses = added!.get(address) ?? new Set();
      return use === ANY_USE ? uses.size === 0 : !uses.has(use) && !uses.has(ANY_USE);
    });
  };
}

/** An address, and what it is granted for: `<direction> <peersHash>`. */
type GrantedAddress = { readonly address: string; readonly use: string };

/** A group of addresses doesn't say what they are for. */
const ANY_USE = '';

function grantsIn(change: CompanionChange): Readonly<Record<'added' | 'removed', readonly GrantedAddress[]>> {
  const before = change.kind === 'create' ? [] : grantsOf(change.from, change.from.resource);
  const after = change.kind === 'delete' ? [] : grantsOf(change.companion, change.resource);
  const without = (grants: readonly GrantedAddress[], others: readonly GrantedAddress[]) => {
    const uses = usesByAddress(others);
    return grants.filter(({ address, use }) => uses.get(address)?.has(use) !== true);
  };
  return { added: without(after, before), removed: without(before, after) };
}

const grantsOf = ({ direction, rules }: Companion, resource: Kind): readonly GrantedAddress[] =>
  rules.flatMap(({ text, cidrs }) => {
    const use = resource === networkPolicyKind ? `${direction} ${peersOf(text)}` : ANY_USE;
    return cidrs.map((address) => ({ address, use }));
  });

function usesByAddress(grants: readonly GrantedAddress[]): ReadonlyMap<string, ReadonlySet<string>> {
  const uses = new Map<string, Set<string>>();
  for (const { address, use } of grants) uses.set(address, (uses.get(address) ?? new Set()).add(use));
  return uses;
}

/** Whether a change deletes what another sink wrote for the present spec of the source. @param sink that of the source */
export function isReplaced(change: CompanionChange, source: Source, { resources }: Sink): boolean {
  const own: readonly Kind[] = resources.length === 0 ? [networkPolicyKind] : resources;
  return change.kind === 'delete' && !own.includes(change.from.resource) && !isOutdated(change, source);
}

/** Which generation of its source a companion was made from, as text; undefined: somebody removed that. */
export const generationOf = ({ object }: ObservedCompanion): string | undefined =>
  object.metadata.annotations[companionGenerationAnnotation];

/** The remote that a companion lets in. */
export const remoteOf = (change: CompanionChange): string =>
  change.kind === 'delete' ? change.from.remote : change.companion.remote;

/** The log's message and fields for a change that was written. */
export function companionEvent(change: CompanionChange): {
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
} {
  const { kind, name } = objectOf(change);
  const facts = { [`${kind[0]!.toLowerCase()}${kind.slice(1)}`]: name, ...addressChanges(change) };
  return { event: `companion ${WRITTEN[change.kind]}`, facts };
}

const WRITTEN = { create: 'created', update: 'updated', delete: 'deleted' } as const;

/** The object that a change writes. */
function objectOf(change: CompanionChange): { readonly kind: string; readonly name: string } {
  const { resource } = change.kind === 'delete' ? change.from : change;
  const { namespace, name } = change.kind === 'delete' ? change.from.object.metadata : change.to.metadata;
  return { kind: resource.kind, name: [namespace, name].filter((part) => (part ?? '') !== '').join('/') };
}

/** The kind and the name of what a change writes. */
export function nameOf(change: CompanionChange): string {
  const { kind, name } = objectOf(change);
  return `${kind} ${name}`;
}

/** How many addresses a companion allows after a change, each counted in every rule, and how many it adds and removes. */
function addressChanges(change: CompanionChange): Readonly<Record<'addresses' | 'added' | 'removed', number>> {
  const before = change.kind === 'create' ? new Set<string>() : entriesOf(change.from);
  const after = change.kind === 'delete' ? new Set<string>() : entriesOf(change.companion);
  const countIn = (entries: Set<string>, others: Set<string>) =>
    [...entries].filter((each) => !others.has(each)).length;
  return { addresses: after.size, added: countIn(after, before), removed: countIn(before, after) };
}

/** What a change does, for people: which object it writes, and its addresses, each once. */
export function companionFacts(change: CompanionChange) {
  const before = new Set(change.kind === 'create' ? [] : change.from.rules.flatMap(({ cidrs }) => cidrs));
  const after = new Set(change.kind === 'delete' ? [] : change.companion.rules.flatMap(({ cidrs }) => cidrs));
  return {
    ...objectOf(change),
    cluster: remoteOf(change),
    addresses: [...after],
    added: [...after].filter((cidr) => !before.has(cidr)),
    removed: [...before].filter((cidr) => !after.has(cidr)),
  };
}

function effectOf(from: Companion, to: Companion): 'add' | 'change' | 'remove' {
  const [before, after] = [entriesOf(from), entriesOf(to)];
  if (isSubset(before, after)) return 'add';
  return isSubset(after, before) ? 'remove' : 'change';
}

const isSubset = (part: ReadonlySet<string>, of: ReadonlySet<string>): boolean =>
  [...part].every((each) => of.has(each));

/** What a companion allows: each address with its ports. */
const entriesOf = ({ rules }: Companion): Set<string> =>
  new Set(
    rules.flatMap(({ ports, cidrs }) => {
      const on = JSON.stringify(ports);
      return cidrs.map((cidr) => `${cidr} ${on}`);
    }),
  );

function update(from: ObservedCompanion, part: CompanionPart): CompanionChange {
  const { uid, resourceVersion, labels, annotations, finalizers } = from.object.metadata;
  const { to } = part;
  return {
    kind: 'update',
    from,
    ...part,
    to: {
      ...to,
      metadata: {
        ...to.metadata,
        uid,
        resourceVersion,
        labels: { ...labels, ...to.metadata.labels },
        annotations: { ...annotations, ...to.metadata.annotations },
        ...(finalizers.length === 0 ? {} : { finalizers }),
      },
    },
  };
}
