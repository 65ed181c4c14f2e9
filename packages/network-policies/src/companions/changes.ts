import { memoize } from '@kube-semaphore/memoize';
import { wholeCompanions } from '../sinks/grouped-sink.ts';
import type { CrossClusterRule } from '../policies/cross-cluster-rules.ts';
import type { ObservedCompanion, Sink, Source } from './companion.ts';
import { type CompanionDiagnostic, type CompanionsInput, desiredCompanions, type RemoteView } from './companions.ts';
import { type ChangesByEffect, changesByEffect, type CompanionPhase, diffCompanions, inPhases } from './diff.ts';

export type CompanionChangesInput = Omit<CompanionsInput, 'observed' | 'maxRules'> & {
  /** All objects of the source's companions. */
  readonly observed: readonly ObservedCompanion[];
  readonly sink: Sink;
};

export type CompanionChanges = {
  readonly phases: readonly CompanionPhase[];
  readonly diagnostics: readonly CompanionDiagnostic[];
};

/**
 * The writes that turn the companions of one source into what they should be: `desiredCompanions`, then `diffCompanions`. A
 * remote whose view, rules and companions are the same objects as before is not computed again, so that a changed Pod costs the
 * same with two remotes and with hundreds.
 */
export function companionChanges(input: CompanionChangesInput): CompanionChanges {
  const { source, remotes, sink, isTaken, maxAddressesPerPolicy, maxAddressesPerSource } = input;
  const observed = Map.groupBy(input.observed, ({ remote }) => remote);
  const parts = remotes.map(({ view, rules }) =>
    remoteChanges(view, rules, observed.get(view.cluster) ?? NO_OBJECTS, source, sink, maxAddressesPerPolicy),
  );
  const addresses = parts.reduce((sum, part) => sum + part.addresses, 0);
  // Otherwise, what one remote gets depends on others.
  if (addresses > maxAddressesPerSource || parts.some(({ names }) => names.some(isTaken))) return allChanges(input);
  for (const { view } of remotes) observed.delete(view.cluster);
  const unnamed = changesByEffect(source, [...observed.values()].flat(), [], sink);
  return {
    phases: inPhases([...parts.map(({ changes }) => changes), unnamed]),
    diagnostics: parts.flatMap(({ diagnostics }) => diagnostics),
  };
}

const NO_OBJECTS: readonly ObservedCompanion[] = [];

/** What one remote comes to, if no limit and no name keeps anything of it away. Without its addresses, which are many. */
type RemoteChanges = Pick<CompanionChanges, 'diagnostics'> & {
  readonly changes: ChangesByEffect;
  /** How many its companions have. */
  readonly addresses: number;
  /** Of its companions. */
  readonly names: readonly string[];
};

const remoteChanges = memoize(
  (
    view: RemoteView,
    rules: readonly CrossClusterRule[],
    observed: readonly ObservedCompanion[],
    source: Source,
    sink: Sink,
    maxAddressesPerPolicy: number,
  ): RemoteChanges => {
    const { companions, diagnostics } = desiredCompanions({
      source,
      remotes: [{ view, rules }],
      observed: wholeCompanions(observed),
      isTaken: () => false,
      maxAddressesPerPolicy,
      maxAddressesPerSource: Infinity,
      maxRules: sink.maxRules,
    });
    const rulesOfAll = companions.flatMap((companion) => companion.rules);
    return {
      changes: changesByEffect(source, observed, companions, sink),
      diagnostics,
      addresses: rulesOfAll.reduce((sum, { cidrs }) => sum + cidrs.length, 0),
      names: companions.map(({ name }) => name),
    };
  },
);

function allChanges({ observed, sink, ...input }: CompanionChangesInput): CompanionChanges {
  const { companions, diagnostics } = desiredCompanions({
    ...input,
    observed: wholeCompanions(observed),
    maxRules: sink.maxRules,
  });
  return { phases: diffCompanions(input.source, observed, companions, sink), diagnostics };
}
