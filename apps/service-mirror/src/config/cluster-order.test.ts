import { describe, expect, it } from 'vitest';
import { orderText } from '../endpoints/desired/routing/order.ts';
import { orderFor } from './cluster-order.ts';
import { parseMirrorFile } from './file.ts';
import { settingsOfFile } from './file-settings.ts';

const options = {
  kubeConfig: undefined,
  localCidrs: undefined,
  mirrorNs: 'sys',
  labelSelector: undefined,
  mirrorSvcLabelSelector: 'a=b',
  globalSvcLabelSelector: 'c=d',
  globalSvcRoutingStrategyLabel: undefined,
};

function settingsOf(clusterOrder: string, properties = '{}') {
  const file = parseMirrorFile(`
global:
  clusterOrder: ${clusterOrder}
localCluster: { name: c1, properties: { region: eu } }
remoteClusters:
  - { name: c2, servicePrefix: c2, kubeConfigPath: /c2, properties: ${properties} }
`);
  return file.ok ? settingsOfFile(file.value, { options, isPod: true, canRead: () => true }) : file;
}

/** The orders of shop/web and shop/db, or the problems. */
function ordersIn(clusterOrder: string) {
  const settings = settingsOf(clusterOrder);
  if (!settings.ok) return settings.problems;
  return ['web', 'db'].map((name) => {
    const order = orderFor(settings.value.global!.clusterOrder, { namespace: 'shop', name });
    return order && orderText(order);
  });
}

describe('global.clusterOrder', () => {
  it.each([
    { name: 'nothing', field: '', want: [undefined, undefined] },
    { name: 'one for all Services', field: '"local; *"', want: ['local; *', 'local; *'] },
    { name: 'one for a Service', field: '{ shop/web: "c2; *" }', want: ['c2; *', undefined] },
    { name: 'one for a Service, and one for others', field: '{ "*": local, shop/web: "c2" }', want: ['c2', 'local'] },
  ])('says $name', ({ field, want }) => {
    expect(ordersIn(field)).toEqual(want);
  });

  it.each([
    { field: '"lo cal"', want: 'global.clusterOrder: "lo cal" is not local' },
    { field: '{ shop/web: "a b" }', want: 'global.clusterOrder["shop/web"]: "a b" is not local' },
    {
      field: '{ web: local }',
      want: 'global.clusterOrder["web"]: it must be for "*", or for a Service as "namespace/name"',
    },
    { field: '[local]', want: 'global.clusterOrder: it is neither an order nor orders by "namespace/name"' },
  ])('must not be $field', ({ field, want }) => {
    expect(ordersIn(field)).toEqual([expect.stringContaining(want)]);
  });
});

describe('properties', () => {
  it('are those of each cluster', () => {
    const properties = new Map([
      ['region', 'us'],
      ['tier', 'gold'],
    ]);
    expect(settingsOf('local', '{ region: us, tier: gold }')).toMatchObject({
      value: { local: { properties: new Map([['region', 'eu']]) }, remotes: [{ properties }] },
    });
  });

  it.each([
    { properties: '{ "a b": x }', want: 'remoteClusters[0].properties["a b"]: it has a name that is not valid' },
    { properties: '{ region: same }', want: 'remoteClusters[0].properties["region"]: it has the value same' },
    { properties: '{ region: 1 }', want: 'remoteClusters[0].properties.region' },
  ])('must not be $properties', ({ properties, want }) => {
    const settings = settingsOf('local', properties);
    expect(!settings.ok && settings.problems).toEqual([expect.stringContaining(want)]);
  });
});
