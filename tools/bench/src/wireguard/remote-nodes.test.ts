import { expect, it } from 'vitest';
import { MOST_NODES, nodeObject, remoteNode } from './remote-nodes.ts';

it('makes Nodes that are peers of the local cluster, each with its own block and endpoint', () => {
  const last = remoteNode(MOST_NODES - 1);
  expect(last).toMatchObject({
    podCidr: '10.127.255.0/24',
    endpoint: '198.18.63.255:51820',
    nextEndpoint: '198.19.63.255:51820',
  });
  expect(nodeObject(last)).toMatchObject({
    metadata: {
      name: 'n16383',
      annotations: {
        'c1.wireguard.semaphore.uw.io/pubKey': last.publicKey,
        'c1.wireguard.semaphore.uw.io/endpoint': last.endpoint,
      },
    },
    spec: { podCIDRs: ['10.127.255.0/24'] },
    status: { addresses: [{ type: 'InternalIP', address: '198.18.63.255' }, expect.anything()] },
  });
  const keys = new Set(Array.from({ length: 100 }, (_, index) => remoteNode(index).publicKey));
  expect(keys.size).toBe(100);
});

it('makes them as large as real Nodes', () => {
  const { length } = JSON.stringify(nodeObject(remoteNode(0)));
  expect(length).toBeGreaterThan(8_000);
  expect(length).toBeLessThan(12_000);
});
