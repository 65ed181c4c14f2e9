import type { ClusterPolicy } from '@kube-semaphore/kube-objects';
import type { SelectingPolicy } from '../calico/accidental-selectors.ts';
import { calicoTerms } from '../calico/calico-selector.ts';
import type { ClusterKey } from './cross-cluster-rules.ts';
import type { PolicyDiagnostic } from './policy-diagnostics.ts';
import { requirementsOn } from './selector.ts';

/** A ClusterNetworkPolicy, or one of the kinds before it. */
export type NamedClusterPolicy = {
  /** `ClusterNetworkPolicy name`. */
  readonly subject: string;
  readonly spec: ClusterPolicy['spec'];
};

function rulesOf({ ingress, egress }: ClusterPolicy['spec']) {
  return [
    ...ingress.map(({ action, from }, i) => ({ where: `ingress rule ${i + 1} (${action})`, peers: from })),
    ...egress.map(({ action, to }, i) => ({ where: `egress rule ${i + 1} (${action})`, peers: to })),
  ];
}

/** Those that name clusters, which reaches no other cluster: no companion could stand at their place among priorities. */
export function notExtended(
  policies: readonly NamedClusterPolicy[],
  key: ClusterKey,
): readonly (PolicyDiagnostic & { readonly subject: string })[] {
  return policies.flatMap(({ subject, spec }) =>
    rulesOf(spec).flatMap(({ where, peers }) => {
      const selectors = peers.flatMap(({ namespaces, pods }) => namespaces ?? pods?.namespaceSelector ?? []);
      if (selectors.every((selector) => requirementsOn(key, selector).length === 0)) return [];
      const detail = `${where} names ${key}, which selects no Pod of another cluster: only NetworkPolicies are extended`;
      return [{ kind: 'problem', reason: 'not-extended', subject, detail } as const];
    }),
  );
}

/**
 * Their rules as Calico reads them: a peer with `pods` selects only what has the label of Kubernetes' Pods, and one with
 * `namespaces` has no such term.
 */
export function asSelectingPolicies(policies: readonly NamedClusterPolicy[]): readonly SelectingPolicy[] {
  return policies.map(({ subject, spec }) => ({
    subject,
    isGlobal: true,
    rules: rulesOf(spec).flatMap(({ where, peers }) =>
      peers.flatMap(({ namespaces }, i) =>
        namespaces === undefined
          ? []
          : [
              {
                where: `${where}: its peer ${i + 1}`,
                selector: '',
                namespaceSelector: calicoTerms(namespaces).join(' && ') || 'all()',
              },
            ],
      ),
    ),
  }));
}
