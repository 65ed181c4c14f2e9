import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { DomainChoice } from '../desired/label-domain.ts';
import { labelDomains, nameLabel } from '@kube-semaphore/network-policies';

/** There are sets, but no Pod matches. */
export function noPodMatches(ownSets: number): Diagnostic {
  const detail = `no Pod matches, so the ${ownSets} sets stay as they are until one does: check -label-domain and the cluster`;
  return { kind: 'problem', reason: 'no-pod-matches', detail };
}

/** The remote is at its limit, and this set would exceed it. */
export const tooManySets = (limit: number): Diagnostic => ({
  kind: 'problem',
  reason: 'over-budget',
  detail: `the remote already has ${limit} sets, its limit: see -max-remote-sets`,
});

/** Neither a flag, nor a set, nor a Pod names the label domain. */
export const NO_LABELLED_POD: Diagnostic = {
  kind: 'expected',
  reason: 'no-labelled-pod',
  detail: `no Pod has the label ${labelDomains.map(nameLabel).join(' or ')}: the first Pod that has one decides which label counts`,
};

/** Not a problem by the metric, which would report it for ever: nothing looks at these Pods again. */
export function otherDomain({ domain, overlooked }: DomainChoice): Diagnostic {
  const detail = `Pods with only the name label of another domain: ${overlooked}. ${domain} is used; set -label-domain to choose`;
  return { kind: 'expected', reason: 'other-label-domain', detail };
}

/** A set of v0.1.0. */
export const firstRelease = ({ name }: { readonly name: string }): Diagnostic => ({
  kind: 'problem',
  reason: 'first-release',
  detail: `the set ${name} has the labels of v0.1.0, so it stays as it is`,
});
