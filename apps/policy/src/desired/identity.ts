import { labelDomains, managedByLabel, managedByValues } from '../names.ts';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { isOurWriter } from './ownership.ts';
import { domainsWith, type Identity, readOwner } from './labels.ts';
import type { StringMap } from './string-map.ts';

/** The flags `-label-domain` and `-managed-by`. */
export type IdentityFlags = {
  /** A domain, or `auto`. */
  readonly labelDomain: string;
  /** A label value, or `auto`. */
  readonly managedBy: string;
};

/** What counts where nothing else is known: what the oldest Go releases write. */
const DEFAULT: Identity = { domain: labelDomains[0], managedBy: managedByValues[0] };

/** What the flags say, `auto` being the default: what counts as ours before any set was looked at. */
export function configuredIdentity(flags: IdentityFlags): Identity {
  return withFlags(DEFAULT, flags);
}

/**
 * Finds out under which labels to write the sets of a cluster. `auto` takes what they carry already, so that users'
 * policies go on matching; where a flag says something else, the next reconcile relabels them.
 *
 * A flag that is given decides among several: with `-label-domain` given, `auto` for the other first looks at the
 * sets under that domain, and at all of them only if it has none.
 *
 * @param sets all local sets; those of other clusters and other writers don't count
 * @returns undefined where neither a set nor `-label-domain` names a domain: Pods do then, see `identityOfDomain`; a
 *   reason that names both flags and what there is to choose from, if that is more than one identity
 */
export function detectIdentity(
  sets: readonly { readonly labels: StringMap }[],
  cluster: string,
  flags: IdentityFlags,
): Parsed<Identity | undefined> {
  const configured = configuredIdentity(flags);
  const carried = distinct(sets.flatMap(({ labels }) => readIdentity(labels, cluster, configured) ?? []));
  const fitting = carried.filter((identity) => describe(identity) === describe(withFlags(identity, flags)));
  const choices = distinct((fitting.length > 0 ? fitting : carried).map((identity) => withFlags(identity, flags)));
  if (choices.length > 1) {
    return bad(
      `the sets of cluster ${cluster} carry ${choices.map(describe).join(' and ')}: ` +
        'say which it is with -label-domain and -managed-by',
    );
  }
  return good(choices[0] ?? (flags.labelDomain === 'auto' ? undefined : configured));
}

/**
 * Under which labels to write the first sets, once Pods have shown the domain: those of the Go releases that go by it.
 * v0.1.4 and later write `policy.semaphore.uw.io` with `semaphore-policy`.
 */
export function identityOfDomain(domain: string, flags: IdentityFlags): Identity {
  return withFlags({ domain, managedBy: domain === DEFAULT.domain ? DEFAULT.managedBy : managedByValues[2] }, flags);
}

function withFlags({ domain, managedBy }: Identity, flags: IdentityFlags): Identity {
  return {
    domain: flags.labelDomain === 'auto' ? domain : flags.labelDomain,
    managedBy: flags.managedBy === 'auto' ? managedBy : flags.managedBy,
  };
}

/** @param configured domain and writer that count besides the known ones */
function readIdentity(labels: StringMap, cluster: string, configured: Identity): Identity | undefined {
  const managedBy = labels[managedByLabel];
  const owner = readOwner(labels, domainsWith(configured.domain));
  if (managedBy === undefined || !isOurWriter(labels, configured.managedBy)) return undefined;
  return owner?.cluster === cluster ? { domain: owner.domain, managedBy } : undefined;
}

const describe = ({ domain, managedBy }: Identity): string => `(${domain}, ${managedBy})`;

/** Each identity once, sorted. */
function distinct(identities: readonly Identity[]): readonly Identity[] {
  const byText = new Map(identities.map((identity) => [describe(identity), identity]));
  return [...byText.keys()].toSorted().flatMap((text) => byText.get(text) ?? []);
}
