import type { WrittenNetworkPolicy } from '@kube-semaphore/kube-objects';
import { companionGenerationAnnotation } from '../../names.ts';
import { compareNames } from '../sets/network-set.ts';
import { type Companion, isWritten, type ObservedCompanion, type Source, writtenCompanion } from './companion.ts';

export type CompanionChange =
  | { readonly kind: 'create'; readonly companion: Companion; readonly to: WrittenNetworkPolicy }
  /** `to` has the UID and the resourceVersion of `from`, and the labels, annotations and finalizers of others. */
  | {
      readonly kind: 'update';
      readonly from: ObservedCompanion;
      readonly companion: Companion;
      readonly to: WrittenNetworkPolicy;
    }
  /** To be sent with the UID and the resourceVersion of `from` as preconditions. */
  | { readonly kind: 'delete'; readonly from: ObservedCompanion };

/** Changes that may be written in parallel; the next phase waits for their success. */
export type CompanionPhase = readonly CompanionChange[];

/**
 * The writes that turn the observed companions of a source into the desired ones. What adds comes first, so that an address
 * which moves to another shard is allowed all the time; what only removes comes late, deletions last.
 */
export function diffCompanions(
  source: Source,
  observed: readonly ObservedCompanion[],
  desired: readonly Companion[],
): readonly CompanionPhase[] {
  const existing = new Map(observed.map((companion) => [companion.name, companion]));
  const wanted = new Set(desired.map(({ name }) => name));
  const phases = { add: [], change: [], remove: [], delete: [] } as Record<string, CompanionChange[]>;
  for (const companion of desired.toSorted(compareNames)) {
    const to = writtenCompanion(source, companion);
    const from = existing.get(companion.name);
    if (from === undefined) phases['add']!.push({ kind: 'create', companion, to });
    else if (!isWritten(to, from.object)) phases[effectOf(from, companion)]!.push(update(from, companion, to));
  }
  for (const from of observed.toSorted(compareNames))
    if (!wanted.has(from.name)) phases['delete']!.push({ kind: 'delete', from });
  return Object.values(phases).filter((phase) => phase.length > 0);
}

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
  change.kind !== 'create' && generationOf(change.from) !== String(generation);

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
  const { namespace, name } = change.kind === 'delete' ? change.from.object.metadata : change.to.metadata;
  const facts = { networkPolicy: `${namespace}/${name}`, ...addressChanges(change) };
  return { event: `companion ${WRITTEN[change.kind]}`, facts };
}

const WRITTEN = { create: 'created', update: 'updated', delete: 'deleted' } as const;

/** How many addresses a companion allows after a change, each counted in every rule, and how many it adds and removes. */
function addressChanges(change: CompanionChange): Readonly<Record<'addresses' | 'added' | 'removed', number>> {
  const before = change.kind === 'create' ? new Set<string>() : entriesOf(change.from);
  const after = change.kind === 'delete' ? new Set<string>() : entriesOf(change.companion);
  const countIn = (entries: Set<string>, others: Set<string>) =>
    [...entries].filter((each) => !others.has(each)).length;
  return { addresses: after.size, added: countIn(after, before), removed: countIn(before, after) };
}

/** What a change does, for people: which NetworkPolicy it writes, and its addresses, each once. */
export function companionFacts(change: CompanionChange) {
  const { namespace, name } = change.kind === 'delete' ? change.from.object.metadata : change.to.metadata;
  const before = new Set(change.kind === 'create' ? [] : change.from.rules.flatMap(({ cidrs }) => cidrs));
  const after = new Set(change.kind === 'delete' ? [] : change.companion.rules.flatMap(({ cidrs }) => cidrs));
  return {
    networkPolicy: `${namespace}/${name}`,
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
  new Set(rules.flatMap(({ ports, cidrs }) => cidrs.map((cidr) => `${cidr} ${JSON.stringify(ports)}`)));

function update(from: ObservedCompanion, companion: Companion, to: WrittenNetworkPolicy): CompanionChange {
  const { uid, resourceVersion, labels, annotations, finalizers } = from.object.metadata;
  return {
    kind: 'update',
    from,
    companion,
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
