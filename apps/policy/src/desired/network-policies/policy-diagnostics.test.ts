import { Codec, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { crossClusterRules } from './cross-cluster-rules.ts';
import { policyDiagnostics, unknownClusters } from './policy-diagnostics.ts';

const K = 'cluster.clusterset.k8s.io';
const codec = new Codec(networkPolicyKind);

function diagnosticsOf(...from: object[]) {
  const spec = { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from }] };
  const policy = codec.objectFromJson({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: {},
    spec,
  });
  const unknown = unknownClusters(crossClusterRules(policy.spec, K), { key: K, remotes: new Set(['c2']), local: 'c1' });
  return policyDiagnostics(policy.spec, K, unknown).map(({ kind, reason, detail }) => `${kind} ${reason}: ${detail}`);
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

  it('has no cluster that is only excluded', () => {
    expect(diagnosticsOf(named('NotIn', 'c9'), named('Exists'), named('In', 'c2'))).toEqual([]);
  });

  it('has the label where it selects nothing', () => {
    expect(diagnosticsOf({ podSelector: { matchLabels: { [K]: 'c2' } } })).toEqual([
      expect.stringMatching(/^problem cluster-label-in-pod-selector: /),
    ]);
  });
});
