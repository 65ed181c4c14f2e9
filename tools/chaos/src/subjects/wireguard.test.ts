import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { node } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { NO_SETTINGS } from '../subject.ts';
import { ownKeys, wireguard } from './wireguard.ts';
import { witnessing } from './wireguard-variants.ts';

const NODES = '/api/v1/nodes';
const DOMAIN = 'c1.wireguard.semaphore.uw.io';
const keyOf = (text: string): string => Buffer.alloc(32, text).toString('base64');

type Options = {
  readonly name?: string;
  readonly key?: string;
  readonly endpoint?: string;
  readonly podCIDRs?: readonly string[];
  readonly created?: string;
  readonly ready?: string;
  readonly since?: string;
};

/** A Node of c2 that is a peer. */
function nodeOf({ name = 'a', created = '2026-02-01T00:00:00Z', ready = 'True', ...options }: Options): KubeObject {
  const { key = keyOf(name), endpoint = '198.51.100.7:51820', podCIDRs = ['10.4.7.0/24'], since = created } = options;
  const annotations = {
    ...(key !== 'none' && { [`${DOMAIN}/pubKey`]: key }),
    ...(endpoint !== 'none' && { [`${DOMAIN}/endpoint`]: endpoint }),
  };
  const object = node({ name, podCIDRs, annotations });
  return {
    ...object,
    metadata: { ...object.metadata, creationTimestamp: created } as KubeObject['metadata'],
    status: { conditions: [{ type: 'Ready', status: ready, lastTransitionTime: since }] },
  };
}

const viewOf = (...nodes: readonly KubeObject[]) => wireguard.wanted({ c2: { [NODES]: nodes } }, ['c2'], NO_SETTINGS);

/** The peers that the device of c2 must have, by their keys. */
const peersOf = (...nodes: readonly Options[]): object =>
  Object.fromEntries(Object.entries(viewOf(...nodes.map(nodeOf))).filter(([name]) => name.startsWith('c2 ')));

const ownKey = (viewOf()['wireguard.c2'] as { publicKey: string }).publicKey;

const peer = (name: string, allowedIps = ['10.4.7.0/24'], endpoint = '198.51.100.7:51820') => ({
  [`c2 ${keyOf(name)}`]: { endpoint, allowedIps, keepalive: '25' },
});

it('is a device with its routes, which our Node announces', () => {
  expect(viewOf()).toEqual({
    'wireguard.c2': {
      alias: 'semaphore-wireguard c2',
      mtu: 1380,
      port: 51_822,
      publicKey: ownKey,
      routes: ['10.4.0.0/16', 'fd00:4::/48'],
      announced: { pubKey: ownKey, endpoint: '172.31.0.1:51822' },
    },
  });
});

const old = { name: 'old', created: '2026-01-01T00:00:00Z' };
const young = { name: 'young', created: '2026-03-01T00:00:00Z' };

it.each<{ name: string; nodes: readonly Options[]; want: object }>([
  { name: 'a Node', nodes: [{}], want: peer('a') },
  { name: 'one that dials out', nodes: [{ endpoint: 'none' }], want: peer('a', undefined, '(none)') },
  {
    name: 'one with both families',
    nodes: [{ podCIDRs: ['10.4.7.0/24', 'fd00:4:0:7::/64'] }],
    want: peer('a', ['10.4.7.0/24', 'fd00:4:0:7::/64']),
  },
  { name: 'the CIDRs of a Node that are inside', nodes: [{ podCIDRs: ['10.4.7.0/24', '::/0'] }], want: peer('a') },
  {
    name: 'no Node that has none inside',
    nodes: [{ podCIDRs: ['10.4.0.0/15'] }, { name: 'b', podCIDRs: ['10.5.1.0/24'] }],
    want: {},
  },
  { name: 'no Node without a key', nodes: [{ key: 'none' }], want: {} },
  {
    name: 'no Node with an invalid key',
    nodes: [{ key: `${'A'.repeat(43)}=` }, { name: 'b', key: ' ' }],
    want: {},
  },
  { name: 'no Node with our key', nodes: [{ key: ownKey }], want: {} },
  { name: 'the older Node with a CIDR', nodes: [young, old], want: peer('old') },
  {
    name: 'the rest of the younger one',
    nodes: [old, { ...young, podCIDRs: ['10.4.7.128/25', 'fd00:4::/64'] }],
    want: { ...peer('old'), ...peer('young', ['fd00:4::/64']) },
  },
  {
    name: 'the older Node with a key',
    nodes: [{ ...young, key: keyOf('old'), podCIDRs: ['10.4.8.0/24'] }, old],
    want: peer('old'),
  },
  {
    name: 'the Node with a key that is Ready',
    nodes: [
      { ...young, key: keyOf('old'), podCIDRs: ['10.4.8.0/24'] },
      { ...old, ready: 'Unknown' },
    ],
    want: peer('old', ['10.4.8.0/24']),
  },
  {
    name: 'the Node with a key that was Ready last',
    nodes: [
      { ...young, key: keyOf('old'), podCIDRs: ['10.4.8.0/24'], ready: 'Unknown', since: '2026-03-02T00:00:00Z' },
      { ...old, ready: 'Unknown', since: '2026-03-01T00:00:00Z' },
    ],
    want: peer('old', ['10.4.8.0/24']),
  },
])('has $name', ({ nodes, want }) => {
  expect(peersOf(...nodes)).toEqual(want);
});

it.each([
  'node.example.org:51820',
  '198.51.100.9',
  '198.51.100.9:0',
  '198.51.100.9:65536',
  '[198.51.100.9]:51820',
  '2001:db8::1:51820',
  '169.254.169.254:80',
  '127.0.0.1:51820',
  '[::1]:51820',
  '172.31.0.1:51820',
])('has no peer at %s', (endpoint) => {
  expect(peersOf({ endpoint })).toEqual({});
});

it('has peers of c3 only in its allowed CIDRs', () => {
  const nodes = ['203.0.113.1:51820', '[2001:db8::1]:51820'].map((endpoint, i) =>
    nodeOf({ name: `n${i}`, endpoint, podCIDRs: [`10.5.${i}.0/24`] }),
  );
  const view = wireguard.wanted({ c3: { [NODES]: nodes } }, ['c3'], NO_SETTINGS);
  expect(Object.keys(view)).toEqual(['wireguard.c3', `c3 ${keyOf('n1')}`]);
});

describe('with blocks of Calico', () => {
  const [AFFINITIES, BLOCKS] = ['blockaffinities', 'ipamblocks'].map(
    (kind) => `/apis/crd.projectcalico.org/v1/${kind}`,
  );
  const object = (spec: object): KubeObject => ({
    apiVersion: 'crd.projectcalico.org/v1',
    kind: 'Any',
    metadata: { name: 'any', uid: 'u', resourceVersion: '1' },
    spec,
  });
  const affinity = (name: string, cidr: string, more: object = {}): KubeObject =>
    object({ node: name, cidr, state: 'confirmed', deleted: 'false', ...more });
  /** @param users the Node of each first address */
  const block = (name: string, cidr: string, ...users: readonly string[]): KubeObject =>
    object({
      cidr,
      affinity: `host:${name}`,
      allocations: [...users.keys(), null],
      attributes: users.map((user) => ({ secondary: { node: user } })),
    });
  const allowedOf = (affinities: readonly KubeObject[], blocks: readonly KubeObject[] = []): object => {
    const nodes = ['a', 'b'].map((name, nth) => nodeOf({ name, created: `2026-02-0${nth + 1}T00:00:00Z` }));
    const state = { c2: { [NODES]: [] }, c3: { [NODES]: nodes, [AFFINITIES!]: affinities, [BLOCKS!]: blocks } };
    const view = witnessing.wanted(state, ['c3'], NO_SETTINGS) as Record<string, { allowedIps: string[] }>;
    return Object.fromEntries(['a', 'b'].map((name) => [name, view[`c3 ${keyOf(name)}`]?.allowedIps]));
  };
  const [one, two] = ['10.5.64.0/26', '10.5.65.0/26'];

  it.each([
    { name: 'its confirmed blocks', affinities: [affinity('a', one), affinity('a', two)], want: { a: [one, two] } },
    {
      name: 'no block that is pending, deleted or elsewhere',
      affinities: [
        affinity('a', one, { state: 'pending' }),
        affinity('a', two, { deleted: 'true' }),
        affinity('b', '10.9.1.0/26'),
      ],
      want: {},
    },
    { name: 'a block before a younger Node', affinities: [affinity('b', one), affinity('a', one)], want: { a: [one] } },
    {
      name: 'what it borrows of another one',
      affinities: [affinity('a', one)],
      blocks: [block('a', one, 'a', 'b', 'b')],
      want: { a: [one], b: ['10.5.64.1/32', '10.5.64.2/32'] },
    },
    {
      name: 'nothing more of its own block',
      affinities: [affinity('b', two)],
      blocks: [block('', two, 'b')],
      want: { b: [two] },
    },
  ])('a Node has $name', ({ affinities, blocks, want }) => {
    expect(allowedOf(affinities, blocks)).toEqual({ a: undefined, b: undefined, ...want });
  });
});

it('knows our keys and Pod subnets of the remotes of the file alone', () => {
  const node = nodeOf({ name: 'a', key: ownKeys.c3.publicKey, endpoint: '10.5.1.10:51820' });
  const state = { c2: { [NODES]: [node] }, c3: { [NODES]: [] } };
  const peers = [['c2'], ['c2', 'c3']].map((remotes) => Object.keys(wireguard.wanted(state, remotes, NO_SETTINGS)));
  expect(peers).toEqual([
    ['wireguard.c2', `c2 ${ownKeys.c3.publicKey}`],
    ['wireguard.c2', 'wireguard.c3'],
  ]);
});

it('calls all peers silent that are called, as none answers', () => {
  const nodes = ['b', 'a', 'dials-out'].map((name, nth) =>
    nodeOf({ name, podCIDRs: [`10.4.${nth}.0/24`], ...(name === 'dials-out' && { endpoint: 'none' }) }),
  );
  const state = { c2: { [NODES]: nodes }, c3: { [NODES]: [] } };
  expect(witnessing.wanted(state, ['c2'], NO_SETTINGS)['silent c2']).toEqual(['a', 'b']);
});
