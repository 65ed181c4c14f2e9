import type { WrittenNetworkPolicy } from '@kube-semaphore/kube-objects';
import { type Companion, isWritten, type ObservedCompanion, type Source, writtenCompanion } from './companion.ts';

export type CompanionChange =
  | { readonly kind: 'create'; readonly to: WrittenNetworkPolicy }
  /** `to` has the UID and the resourceVersion of `from`, and the labels, annotations and finalizers of others. */
  | { readonly kind: 'update'; readonly from: ObservedCompanion; readonly to: WrittenNetworkPolicy }
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
  for (const companion of desired.toSorted(byName)) {
    const to = writtenCompanion(source, companion);
    const from = existing.get(companion.name);
    if (from === undefined) phases['add']!.push({ kind: 'create', to });
    else if (!isWritten(to, from.object)) phases[effectOf(from, companion)]!.push(update(from, to));
  }
  for (const from of observed.toSorted(byName))
    if (!wanted.has(from.name)) phases['delete']!.push({ kind: 'delete', from });
  return Object.values(phases).filter((phase) => phase.length > 0);
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

function update(from: ObservedCompanion, to: WrittenNetworkPolicy): CompanionChange {
  const { uid, resourceVersion, labels, annotations, finalizers } = from.object.metadata;
  return {
    kind: 'update',
    from,
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

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : Number(a.name > b.name);
