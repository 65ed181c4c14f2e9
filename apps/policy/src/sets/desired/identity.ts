import { labelDomains, managedByLabel, type StringMap } from '@kube-semaphore/network-policies';
import { managedByValues } from '../../names.ts';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { isOurWriter } from './ownership.ts';
import { domainsWith, type Identity, readOwner } from './labels.ts';

/** The flags `-label-domain` and `-managed-by`. */
export type IdentityFlags = {
  /** A domain, or `auto`. */
  readonly labelDomain: string;
  /** A label value, or `auto`. */
  readonly managedBy: string;
};

/** What the oldest Go releases write: the default if nothing else is known. */
const DEFAULT: Identity = { domain: labelDomains[0], managedBy: managedByValues[0] };

/** The flags, with the default for `auto`: what is ours before the sets are read. */
export function configuredIdentity(flags: IdentityFlags): Identity {
  return withFlags(DEFAULT, flags);
}

/**
 * Finds out under which labels to write the sets of a cluster. `auto` uses the labels that they have, so that users'
 * policies still match. If a flag says otherwise, the next reconcile relabels them.
 *
 * With one flag and `auto` for the other, `auto` first looks at the sets that match the flag, and at the other sets only
 * if none does.
 *
 * @param sets all local sets; those of other clusters and other writers are ignored
 * @returns undefined if neither a set nor `-label-domain` names a domain: Pods decide then, see `identityOfDomain`; a
 *   reason that names the identities and both flags, if there is more than one identity
 */
export function detectIdentity(
  sets: readonly { readonly labels: StringMap }[],
  cluster: string,
  flags: IdentityFlags,
): Parsed<Identity | undefined> {
  const configured = configuredIdentity(flags);
  const existing = distinct(sets.flatMap(({ labels }) => readIdentity(labels, cluster, configured) ?? []));
  const matching = existing.filter((identity) => describe(identity) === describe(withFlags(identity, flags)));
  const choices = distinct((matching.length > 0 ? matching : existing).map((identity) => withFlags(identity, flags)));
  if (choices.length > 1) {
    const found = choices.map(describe).join(' and ');
    return bad(`the sets of cluster ${cluster} have ${found}: choose one with -label-domain and -managed-by`);
  }
  return good(choices[0] ?? (flags.labelDomain === 'auto' ? undefined : configured));
}

/**
 * Under which labels to write the first sets of a domain: as the Go releases that use it. v0.1.4 and later write
 * `policy.semaphore.uw.io` with `semaphore-policy`.
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

/** @param configured a domain and a writer that are ours besides the known ones */
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
