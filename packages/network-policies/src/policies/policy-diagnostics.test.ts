import { Codec, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { crossClusterRules } from './cross-cluster-rules.ts';
import { policyDiagnostics, unknownClusterDiagnostic, unknownClusters } from './policy-diagnostics.ts';

const K = 'cluster.clusterset.k8s.io';
const codec = new Codec(networkPolicyKind);

function specOf(...from: object[]) {
  const spec = { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from }] };
  return codec.objectFromJson({ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: {}, spec }).spec;
}

function diagnosticsOf(...from: object[]) {
  const spec = specOf(...from);
  const unknown = unknownClusters(crossClusterRules(spec, K), { key: K, remotes: new Set(['c2']), local: 'c1' });
  return [...unknown.map(unknownClusterDiagnostic), ...policyDiagnostics(spec, K)].map(
    ({ kind, reason, detail }) => `${kind} ${reason}: ${detail}`,
  );
}

const named = (operator: string, ...values: string[]) => ({
  namespaceSelector: { matchExpressions: [{ key: K, operator, values }] },
});

describe('policyDiagnostics', () => {
  it('has each cluster that is named and not configured, once', () => {
    expect(
      diagnosticsOf(named('In', 'c1', 'c2', 'c9', 'c8'), { namespaceSelector: { matchLabels: { [K]: 'c9' } } }),
    ).toEqual([
      'expected unknown-cluster: it names the cluster c8, which is not a remote in the config',
      'expected unknown-cluster: it names the cluster c9, which is not a remote in the config',
    ]);
  });

  it('has a cluster that is excluded, as a wrong name excludes nothing', () => {
    expect(diagnosticsOf(named('NotIn', 'c1', 'c2', 'c8', 'c9'), named('Exists'), named('In', 'c9'))).toEqual([
      'expected unknown-cluster: it excludes the cluster c8, which is not a remote in the config, so this excludes nothing',
      'expected unknown-cluster: it names the cluster c9, which is not a remote in the config',
    ]);
  });

  it('has no cluster that is excluded if that may be this one', () => {
    const rules = crossClusterRules(specOf(named('NotIn', 'c9')), K);
    expect(unknownClusters(rules, { key: K, remotes: new Set(['c2']), local: undefined })).toEqual([]);
  });

  it.each([
    {
      name: 'alone',
      labels: {},
      want: [expect.stringMatching(/^problem cluster-label-missing: .*\/region, but not /)],
    },
    { name: 'beside the cluster label', labels: { [K]: 'c2' }, want: [] },
  ])('has a label of the config $name', ({ labels, want }) => {
    const matchLabels = { 'labels.policy.semaphore.uw.io/region': 'eu', ...labels };
    expect(diagnosticsOf({ namespaceSelector: { matchLabels } })).toEqual(want);
  });

  it('has the label where it selects nothing', () => {
    expect(diagnosticsOf({ podSelector: { matchLabels: { [K]: 'c2' } } })).toEqual([
      expect.stringMatching(/^problem cluster-label-in-pod-selector: /),
    ]);
  });
});
