import { eventually } from '@kube-semaphore/eventually';
import { bash, docBlocks, goesWithoutEngines } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Flow, PacketSystem, textOf } from '../support/net/packet-system.ts';
import { labelsOf } from '../support/sets.ts';

/*
 * Felix enforces the policies of docs/policy.md, which select our GlobalNetworkSets, on packets. All tests share one system,
 * and each continues where the one before it ended.
 */

const checkout = { 'semaphore.uw.systems/name': 'checkout' };

const system = new PacketSystem({
  engines: ['felix', 'felix-iptables'],
  localPods: {
    'orders-db': { namespace: 'orders', labels: { app: 'orders-db' }, host: 10, ports: [5432, 8080] },
    frontend: { namespace: 'shop', labels: { app: 'frontend' }, host: 11 },
    // It has the labels of the set.
    lookalike: { namespace: 'shop', labels: labelsOf('checkout', { namespace: 'shop' }), host: 12, ports: [8080] },
  },
  remotePods: {
    c2: {
      'shop/checkout': { labels: checkout, host: 20, ports: [8080, 9090] },
      'shop/checkout-2': { labels: checkout, host: 21, ports: [8080], comesLater: true },
      'shop/unlabelled': { labels: { app: 'checkout' }, host: 22, ports: [8080] },
    },
    c3: { 'shop/checkout': { labels: checkout, host: 20, ports: [8080] } },
  },
});

/** The policies, as Calico's API server stores them. */
const documented = docBlocks('policy.md', 'Policies', 'yaml').map((manifest) =>
  manifest
    .replace('projectcalico.org/v3', 'crd.projectcalico.org/v1')
    .replace('\n  name: ', '\n  name: default.')
    .replace('\nspec:\n', '\nspec:\n  tier: default\n'),
);

describe.skipIf(goesWithoutEngines)('policies of Calico that select our sets, on packets', () => {
  beforeAll(() => system.start());
  afterAll(() => system.stop());

  const flows: readonly Flow[] = [
    ['c2/shop/checkout', 'orders-db', 5432],
    ['c2/shop/checkout', 'orders-db', 8080],
    ['c2/shop/checkout-2', 'orders-db', 5432],
    ['c2/shop/unlabelled', 'orders-db', 5432],
    ['c3/shop/checkout', 'orders-db', 5432],
    ['lookalike', 'orders-db', 5432],
    ['frontend', 'c2/shop/checkout', 8080],
    ['frontend', 'c2/shop/checkout', 9090],
    ['frontend', 'c2/shop/checkout-2', 8080],
    ['frontend', 'c2/shop/unlabelled', 8080],
    ['frontend', 'c3/shop/checkout', 8080],
    ['frontend', 'lookalike', 8080],
    ['lookalike', 'c2/shop/unlabelled', 8080],
  ];
  const only = (...wanted: readonly string[]) => flows.filter((flow) => wanted.includes(textOf(flow)));
  const flowsOf = (pod: string) => only(`c2/shop/${pod} -> orders-db:5432`, `frontend -> c2/shop/${pod}:8080`);
  /** What no policy is about, and the Pod of c3, which only egress names. */
  const always = only('lookalike -> c2/shop/unlabelled:8080', 'frontend -> c3/shop/checkout:8080');
  /** What is possible when exactly these Pods of c2 are admitted. */
  const admitted = (...pods: readonly string[]) => system.everywhere([...always, ...pods.flatMap(flowsOf)]);

  it('open everything without the policies, and close to all other clusters without the sets', async () => {
    await eventually(() => system.openAmong(flows), system.everywhere(flows));
    await bash(`kubectl apply -f - <<'END'\n${documented.join('---\n')}END\n`, system.cluster);
    const notSelected = only('lookalike -> c2/shop/unlabelled:8080');
    await eventually(() => system.openAmong(flows), system.everywhere(notSelected));
  });

  it('open to labelled Pods by the sets, and to no others', async () => {
    await system.startController();
    await eventually(() => system.openAmong(flows), admitted('checkout'));
  });

  it('open to a Pod that comes later, and refuse the one that stays no connection', async () => {
    const comes = async (): Promise<void> => {
      await system.addRemotePod('c2', 'shop/checkout-2');
      await eventually(() => system.openAmong(flows), admitted('checkout', 'checkout-2'));
    };
    const stays = flowsOf('checkout');
    expect(await system.openThroughout(stays, comes)).toEqual(system.everywhere(stays));
  });

  it('close to a Pod that goes, and refuse the one that stays no connection', async () => {
    const goes = async (): Promise<void> => {
      await system.removeRemotePod('c2', 'shop/checkout');
      await eventually(() => system.openAmong(flows), admitted('checkout-2'));
    };
    const stays = flowsOf('checkout-2');
    expect(await system.openThroughout(stays, goes)).toEqual(system.everywhere(stays));
  });
});
