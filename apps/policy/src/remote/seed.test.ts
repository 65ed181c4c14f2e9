import { expect, it } from 'vitest';
import { seedOf } from './seed.ts';
import { domainsWith, setLabels } from '../desired/labels.ts';

const identity = { domain: 'semaphore.uw.systems', managedBy: 'semaphore-policy' };
const domains = domainsWith(identity.domain);

function own(name: string, pair: { cluster: string; namespace: string; app: string }, ...nets: string[]) {
  return {
    cluster: pair.cluster,
    set: { name, uid: 'u', resourceVersion: '1', labels: setLabels(identity, pair), annotations: {}, nets },
  };
}

it('remembers each address of a cluster once, held, under a key that no Pod has', () => {
  const sets = [
    own('c2-ns-app', { cluster: 'c2', namespace: 'ns', app: 'app' }, '10.0.0.1/32', '10.0.0.1', 'fd00::1/128'),
    own('c3-ns-app', { cluster: 'c3', namespace: 'ns', app: 'app' }, '10.9.0.1/32'),
  ];
  const seed = seedOf(sets, 'c2', domains);
  expect([...seed.keys()]).toEqual(['ns/app@10.0.0.1', 'ns/app@fd00::1']);
  expect(seed.get('ns/app@10.0.0.1')).toEqual({
    uid: '',
    namespace: 'ns',
    name: 'app@10.0.0.1',
    app: 'app',
    ips: ['10.0.0.1'],
    hostNetwork: false,
    held: true,
  });
});

it('takes nothing that a Pod never had: ranges, rubbish, and sets whose labels name no pair', () => {
  const pair = { cluster: 'c2', namespace: 'ns', app: 'app' };
  const nameless = own('c2-ns-app', pair, '10.0.0.1/32');
  const sets = [
    own('c2-ns-app', pair, '10.0.0.0/8', 'rubbish', 'fd00::/64'),
    { ...nameless, set: { ...nameless.set, labels: { [`${identity.domain}/cluster`]: 'c2' } } },
  ];
  expect(seedOf(sets, 'c2', domains).size).toBe(0);
});
