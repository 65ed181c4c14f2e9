import { expect, it } from 'vitest';
import { seedOf } from './seed.ts';
import { domainsWith, setLabels } from '../desired/labels.ts';

const identity = { domain: 'semaphore.uw.systems', managedBy: 'semaphore-policy' };
const domains = domainsWith(identity.domain);

function own(name: string, pair: { cluster: string; namespace: string; app: string }, ...nets: string[]) {
  return { name, uid: 'u', resourceVersion: '1', labels: setLabels(identity, pair), annotations: {}, nets };
}

const pair = { cluster: 'c2', namespace: 'ns', app: 'app' };

it('has each address once, held, under a key that no Pod has', () => {
  const seed = seedOf([own('c2-ns-app', pair, '10.0.0.1/32', '10.0.0.1', 'fd00::1/128')], domains);
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

it('skips what no Pod ever had: ranges, rubbish, and sets whose labels name no pair', () => {
  const nameless = own('c2-ns-app', pair, '10.0.0.1/32');
  const sets = [
    own('c2-ns-app', pair, '10.0.0.0/8', 'rubbish', 'fd00::/64'),
    { ...nameless, labels: { [`${identity.domain}/cluster`]: 'c2' } },
  ];
  expect(seedOf(sets, domains).size).toBe(0);
});
