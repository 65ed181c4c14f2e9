import { clusterPolicyKinds, Codec } from '@kube-semaphore/kube-objects';
import { expect, it } from 'vitest';
import { accidentalRules } from '../calico/accidental-selectors.ts';
import { setLabels } from '../../test/support/set-labels.ts';
import { asSelectingPolicies, notExtended } from './cluster-policies.ts';

const K = 'cluster.clusterset.k8s.io';
const codec = new Codec(clusterPolicyKinds[0]);
const sets = [setLabels('checkout')];

const policy = (peer: object, direction: 'ingress' | 'egress' = 'ingress') => {
  const rule = { action: 'Deny', [direction === 'ingress' ? 'from' : 'to']: [{ namespaces: {} }, peer] };
  const object = { apiVersion: 'policy.networking.k8s.io/v1alpha2', kind: 'ClusterNetworkPolicy' };
  const { spec } = codec.objectFromJson({ ...object, metadata: { name: 'p' }, spec: { [direction]: [rule] } });
  return [{ subject: 'ClusterNetworkPolicy p', spec }];
};

const expression = (operator: string, key = 'team', ...values: string[]) => ({
  matchExpressions: [{ key, operator, values }],
});

it.each<[string, object, boolean]>([
  ['a namespace with the cluster label', { namespaces: { matchLabels: { [K]: 'c2' } } }, true],
  ['Pods of such a namespace', { pods: { namespaceSelector: expression('Exists', K), podSelector: {} } }, true],
  [
    'Pods with the cluster label',
    { pods: { namespaceSelector: {}, podSelector: { matchLabels: { [K]: 'c2' } } } },
    false,
  ],
  ['another label', { namespaces: { matchLabels: { team: 'a' } } }, false],
  ['networks', { networks: ['10.0.0.0/8'] }, false],
])('a peer that selects %s is not extended: %j', (_, peer, want) => {
  for (const direction of ['ingress', 'egress'] as const) {
    const detail = expect.stringContaining(`${direction} rule 1 (Deny) names ${K}, `) as string;
    expect(notExtended(policy(peer, direction), K)).toEqual(
      want ? [{ kind: 'problem', reason: 'not-extended', subject: 'ClusterNetworkPolicy p', detail }] : [],
    );
  }
});

it.each<[string, object, boolean]>([
  ['that lack a label', { namespaces: expression('DoesNotExist') }, true],
  ['with another value', { namespaces: expression('NotIn', 'team', 'a') }, true],
  ['with a label', { namespaces: expression('Exists') }, false],
  ['with a value', { namespaces: { matchLabels: { team: 'a' } } }, false],
  ['of all names', { namespaces: {} }, false],
  ['with certain Pods', { pods: { namespaceSelector: expression('DoesNotExist'), podSelector: {} } }, false],
])('a peer with namespaces %s selects sets in Calico: %j', (_, peer, want) => {
  const subject = 'ClusterNetworkPolicy p';
  const detail = expect.stringMatching(/^ingress rule 1 \(Deny\): its peer 2 also selects 1 of our sets/) as string;
  expect(accidentalRules(asSelectingPolicies(policy(peer)), sets)).toEqual(want ? [{ subject, detail }] : []);
});
