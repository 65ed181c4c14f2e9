import { calicoPolicyKind, Codec } from '@kube-semaphore/kube-objects';
import { expect, it } from 'vitest';
import { accidentalRules, selectingPolicy } from './accidental-selectors.ts';
import { setLabels } from '../../test/support/set-labels.ts';

const codec = new Codec(calicoPolicyKind('projectcalico.org/v3', 'GlobalNetworkPolicy'));
const sets = [setLabels('checkout')];

const found = (source: object, namespace = '') => {
  const metadata = { name: 'p', namespace };
  const spec = { ingress: [{ action: 'Allow', source }] };
  const object = { apiVersion: 'projectcalico.org/v3', kind: 'GlobalNetworkPolicy', metadata, spec };
  return accidentalRules([selectingPolicy(codec.objectFromJson(object))], sets);
};

it.each<[string, object, boolean]>([
  ['all()', { selector: 'all()' }, true],
  ['a label that Pods lack', { selector: '!has(quarantine)' }, true],
  ['another value', { selector: "app != 'x'" }, true],
  ['a namespace without a label', { namespaceSelector: '!has(team)' }, true],
  ['a label of Pods', { selector: "app == 'x'" }, false],
  ['every namespace', { namespaceSelector: 'all()', selector: '!has(quarantine)' }, false],
  ['a label of sets', { selector: "policy.semaphore.uw.io/cluster == 'c2'" }, false],
  ['all sets but some', { selector: "policy.semaphore.uw.io/cluster != 'c3'" }, false],
  ['global()', { namespaceSelector: 'global()', selector: 'all()' }, false],
  ['a service account', { selector: 'all()', serviceAccounts: { names: ['a'] } }, false],
  ['nothing', { nets: ['10.0.0.0/8'] }, false],
  ['a selector that is not valid', { selector: '&&' }, false],
])('a rule of a GlobalNetworkPolicy that names %s', (_, source, want) => {
  expect(found(source).length > 0).toBe(want);
});

it('a rule of a NetworkPolicy selects sets by its namespaceSelector alone', () => {
  expect(found({ selector: 'all()' }, 'alpha')).toEqual([]);
  expect(found({ selector: 'all()', namespaceSelector: '!has(team)' }, 'alpha')).toEqual([
    {
      subject: 'Calico NetworkPolicy alpha/p',
      detail: expect.stringMatching(/^ingress rule 1 \(Allow\): its source also selects 1 of our sets/) as string,
    },
  ]);
});
