import { calicoPolicyKind, Codec, globalNetworkSetKind } from '@kube-semaphore/kube-objects';
import { expect, it } from 'vitest';
import { emptyRules } from './empty-rules.ts';
import { setLabels } from '../../test/support/set-labels.ts';

const policies = new Codec(calicoPolicyKind('projectcalico.org/v3', 'GlobalNetworkPolicy'));
const sets = new Codec(globalNetworkSetKind('crd.projectcalico.org/v1'));

const found = (source: object, namespace = '') => {
  const policy = policies.objectFromJson({
    apiVersion: 'projectcalico.org/v3',
    kind: 'GlobalNetworkPolicy',
    metadata: { name: 'p', namespace },
    spec: { ingress: [{ action: 'Allow', source }] },
  });
  const setOf = (metadata: object, nets: readonly string[]) =>
    sets.objectFromJson({
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'GlobalNetworkSet',
      metadata: { name: 's', ...metadata },
      spec: { nets },
    });
  const annotations = { 'projectcalico.org/metadata': JSON.stringify({ labels: setLabels('old') }) };
  return emptyRules(
    [policy],
    [
      setOf({ labels: setLabels('full') }, ['10.4.0.1/32']),
      setOf({ labels: setLabels('empty') }, []),
      setOf({ annotations }, ['10.4.0.2/32']),
    ],
  );
};

const named = (app: string) => `policy.semaphore.uw.io/namespace == 'shop' && policy.semaphore.uw.io/name == '${app}'`;

it.each([
  { rule: 'a set with addresses', source: { selector: named('full') }, want: false },
  { rule: 'a set whose labels are in an annotation', source: { selector: named('old') }, want: false },
  { rule: 'an empty set', source: { selector: named('empty') }, want: true },
  { rule: 'no set', source: { selector: named('missing') }, want: true },
  { rule: 'no set of a cluster', source: { selector: "policy.semaphore.uw.io/cluster == 'c3'" }, want: true },
  { rule: 'all but sets', source: { selector: '!has(policy.semaphore.uw.io/cluster)' }, want: false },
  { rule: 'Pods', source: { selector: "app == 'x'" }, want: false },
  { rule: 'Pods of namespaces', source: { selector: named('missing'), namespaceSelector: "team == 'a'" }, want: false },
  { rule: 'no set, with global()', source: { selector: named('missing'), namespaceSelector: 'global()' }, want: true },
  { rule: 'what is not valid', source: { selector: '&&' }, want: false },
])('finds a rule that selects no address, not one that selects one: $rule', ({ source, want }) => {
  const { selector } = source;
  const sentence = `GlobalNetworkPolicy p: ingress rule 1 (Allow): its source selects no address: ${selector}`;
  expect(found(source)).toEqual(want ? [sentence] : []);
});

it('skips a rule of a NetworkPolicy that is about its own namespace', () => {
  expect(found({ selector: named('missing') }, 'shop')).toEqual([]);
  expect(found({ selector: named('missing'), namespaceSelector: 'global()' }, 'shop')).toHaveLength(1);
});
