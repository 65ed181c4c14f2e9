import { overlaps } from '@kube-semaphore/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DesiredPeers } from './peers.ts';
import { CalicoClaims, claimsOf } from '../remote/calico-blocks.ts';
import type { RemoteNode } from './remote-node.ts';
import { calicoClaims, cidr, desiredPeers, key, remoteNode } from '../../../test/support/builders.ts';

const OWN = key(200);
const ownKeys = new Set([OWN]);

/** The peers and what is skipped, in short. */
function brief(nodes: readonly RemoteNode[]) {
  const { peers, skipped } = desiredPeers(nodes, { ownKeys });
  return {
    peers: peers.map(({ node, allowedIps }) => `${node} ${allowedIps.join(' ')}`),
    skipped: skipped.map(({ node, reason, detail }) => `${node} ${reason}: ${detail}`),
  };
}

const A = '10.4.1.0/24';
const B = '10.4.2.0/24';

describe('desiredPeers', () => {
  it('makes a peer of each Node', () => {
    expect(desiredPeers([remoteNode('n2', [B, 'fd00:4::/64']), remoteNode('n1', [A])], { ownKeys })).toEqual({
      peers: [
        { node: 'n1', publicKey: key(1), endpoint: '192.0.2.1:51820', allowedIps: [A] },
        { node: 'n2', publicKey: key(2), endpoint: '192.0.2.2:51820', allowedIps: [B, 'fd00:4::/64'] },
      ],
      skipped: [],
    });
  });

  it.each([
    {
      name: 'gives a CIDR to the oldest Node',
      nodes: [remoteNode('n2', [A]), remoteNode('n1', [A])],
      peers: [`n1 ${A}`],
      skipped: [`n2 cidr-taken: ${A} is refused: it overlaps with a block of n1`],
    },
    {
      name: 'keeps the other CIDRs of a Node that loses one',
      nodes: [remoteNode('n1', [A]), remoteNode('n2', [A, B])],
      peers: [`n1 ${A}`, `n2 ${B}`],
      skipped: [`n2 cidr-taken: ${A} is refused: it overlaps with a block of n1`],
    },
    {
      name: 'refuses a part of an older Node’s CIDR',
      nodes: [remoteNode('n1', [A]), remoteNode('n2', ['10.4.1.7/32'])],
      peers: [`n1 ${A}`],
      skipped: ['n2 cidr-taken: 10.4.1.7/32 is refused: it overlaps with a block of n1'],
    },
    {
      name: 'refuses a CIDR that contains an older Node’s',
      nodes: [remoteNode('n1', [A]), remoteNode('n2', ['10.4.0.0/16'])],
      peers: [`n1 ${A}`],
      skipped: ['n2 cidr-taken: 10.4.0.0/16 is refused: it overlaps with a block of n1'],
    },
    {
      name: 'decides by name between Nodes of the same age',
      nodes: [remoteNode('n2', [A], { createdMs: 5 }), remoteNode('n1', [A], { createdMs: 5 })],
      peers: [`n1 ${A}`],
      skipped: [expect.stringMatching(/^n2 cidr-taken/)],
    },
    {
      name: 'treats a Node without an age as the youngest',
      nodes: [remoteNode('n1', [A], { createdMs: 0 }), remoteNode('n2', [A])],
      peers: [`n2 ${A}`],
      skipped: [expect.stringMatching(/^n1 cidr-taken/)],
    },
    {
      name: 'prefers any other Node to a held one',
      nodes: [remoteNode('n1', [A], { held: true }), remoteNode('n2', [A])],
      peers: [`n2 ${A}`],
      skipped: [expect.stringMatching(/^n1 cidr-taken/)],
    },
    {
      name: 'keeps a held Node without a conflict',
      nodes: [remoteNode('n1', [A], { held: true }), remoteNode('n2', [B])],
      peers: [`n1 ${A}`, `n2 ${B}`],
      skipped: [],
    },
    {
      name: 'gives a key to the oldest Node',
      nodes: [remoteNode('n1', [A]), remoteNode('n2', [B], { publicKey: key(1) })],
      peers: [`n1 ${A}`],
      skipped: ['n2 key-taken: n1 has the same public key'],
    },
    {
      name: 'gives a key to the Node that is Ready: an older one is the same machine, under its former name',
      nodes: [remoteNode('n1', [A], { readyUntilMs: 5 }), remoteNode('n2', [B], { publicKey: key(1) })],
      peers: [`n2 ${B}`],
      skipped: ['n1 key-taken: n2 has the same public key'],
    },
    {
      name: 'gives a key of Nodes that are not Ready to the last that was: an outage changes nothing',
      nodes: [
        remoteNode('n1', [A], { readyUntilMs: 5 }),
        remoteNode('n2', [B], { readyUntilMs: 6, publicKey: key(1) }),
        remoteNode('n3', [B], { readyUntilMs: 0, publicKey: key(1) }),
      ],
      peers: [`n2 ${B}`],
      skipped: ['n1 key-taken: n2 has the same public key', 'n3 key-taken: n2 has the same public key'],
    },
    {
      name: 'leaves the blocks of a Node that is not Ready alone',
      nodes: [remoteNode('n1', [A], { readyUntilMs: 5 }), remoteNode('n2', [A])],
      peers: [`n1 ${A}`],
      skipped: [`n2 cidr-taken: ${A} is refused: it overlaps with a block of n1`],
    },
    {
      name: 'gives the CIDRs of a Node with another’s key to others',
      nodes: [remoteNode('n1', [A]), remoteNode('n2', [B], { publicKey: key(1) }), remoteNode('n3', [B])],
      peers: [`n1 ${A}`, `n3 ${B}`],
      skipped: ['n2 key-taken: n1 has the same public key'],
    },
    {
      name: 'gives the key of a Node without a CIDR to others',
      nodes: [remoteNode('n1', []), remoteNode('n2', [B], { publicKey: key(1) })],
      peers: [`n2 ${B}`],
      skipped: [],
    },
    {
      name: 'has no peer with our own key',
      nodes: [remoteNode('n1', [A], { publicKey: OWN }), remoteNode('n2', [A])],
      peers: [`n2 ${A}`],
      skipped: ['n1 own-key: its public key is our own'],
    },
  ])('$name', ({ nodes, peers, skipped }) => {
    expect(brief(nodes)).toEqual({ peers, skipped });
    expect(brief(nodes.toReversed())).toEqual({ peers, skipped });
  });

  it('uses Calico’s blocks if the config says so', () => {
    const claims = new Map([
      [
        'n1',
        [
          { cidr: cidr(A), isBorrowed: false },
          { cidr: cidr('10.4.2.7/32'), isBorrowed: true },
        ],
      ],
      ['n2', [{ cidr: cidr(B), isBorrowed: false }]],
    ]);
    const { peers, skipped } = desiredPeers([remoteNode('n1', []), remoteNode('n2', []), remoteNode('n3', [])], {
      ownKeys,
      calicoClaims: claims,
    });
    expect(peers.map(({ node, allowedIps }) => [node, ...allowedIps])).toEqual([
      ['n1', A, '10.4.2.7/32'],
      ['n2', B],
    ]);
    expect(skipped).toEqual([
      { kind: 'problem', node: 'n3', reason: 'no-cidr', detail: 'the Node has no confirmed block in a pod subnet' },
    ]);
  });

  it('gives a borrowed address to one Node only', () => {
    const borrowed = [{ cidr: cidr('10.4.2.7/32'), isBorrowed: true }];
    const { peers, skipped } = desiredPeers([remoteNode('n2', []), remoteNode('n1', [])], {
      ownKeys,
      calicoClaims: new Map([
        ['n1', borrowed],
        ['n2', borrowed],
      ]),
    });
    expect(peers.map(({ node }) => node)).toEqual(['n1']);
    expect(skipped).toMatchObject([{ node: 'n2', reason: 'cidr-taken' }]);
  });

  it('keeps the CIDRs of seeded Nodes where Calico’s blocks are used', () => {
    const heldNode = remoteNode('n9', [A, '10.4.2.7/32'], { held: true, endpoint: undefined });
    const { peers } = desiredPeers([remoteNode('n2', []), heldNode], {
      ownKeys,
      calicoClaims: new Map([['n2', [{ cidr: cidr(B), isBorrowed: false }]]]),
    });
    expect(peers).toMatchObject([
      { node: 'n2', allowedIps: [B] },
      { node: 'n9', endpoint: undefined, allowedIps: [A, '10.4.2.7/32'] },
    ]);
  });
});

/** Few keys and few blocks, so that Nodes conflict. A Node's own blocks don't overlap, as `readNode` makes sure. */
const blocks = fc
  .uniqueArray(fc.constantFrom(A, B, '10.4.0.0/16', '10.4.1.128/25', '10.4.1.7/32', 'fd00:4::/48', 'fd00:4:0:1::/64'), {
    maxLength: 3,
  })
  .map((texts) => texts.filter((text, i) => !texts.slice(0, i).some((other) => overlaps(cidr(other), cidr(text)))));
const nodes = fc
  .uniqueArray(
    fc.record({
      number: fc.integer({ min: 1, max: 30 }),
      cidrs: blocks,
      publicKey: fc.constantFrom(key(1), key(2), key(3), key(4), OWN),
      createdMs: fc.nat(3),
      readyUntilMs: fc.constantFrom(Infinity, 0, 5, 6),
      held: fc.boolean(),
    }),
    { selector: ({ number }) => number, maxLength: 10 },
  )
  .map((list) =>
    list.map(({ number, cidrs, publicKey, createdMs, readyUntilMs, held }) =>
      remoteNode(`n${number}`, cidrs, { publicKey, createdMs, readyUntilMs, ...(held ? { held } : {}) }),
    ),
  );

/** Changes of Nodes one after the other: some at a time, and some are deleted. Our own keys change, too. */
const history = fc.array(
  fc.record({ changed: nodes, gone: fc.array(fc.integer({ min: 1, max: 30 })), own: fc.boolean() }),
  {
    maxLength: 12,
  },
);

describe('for any history', () => {
  const ownOf = (own: boolean) => new Set(own ? [OWN, key(2)] : [OWN]);

  it('peers and skipped are those of the present Nodes, and every Node with a difference is reported', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const present = new Map<string, RemoteNode>();
        const desired = new DesiredPeers();
        for (const { changed, gone, own } of steps) {
          const changes = new Map<string, RemoteNode | undefined>(gone.map((number) => [`n${number}`, undefined]));
          for (const node of changed) changes.set(node.name, node);
          for (const [name, node] of changes) if (node === undefined) present.delete(name);
          for (const node of changed) present.set(node.name, node);
          const before = desired.all();
          const reported = new Set(desired.update(changes, ownOf(own)));
          const after = desired.all();
          expect(after).toEqual(desiredPeers(present.values(), { ownKeys: ownOf(own) }));
          const others = ({ peers, skipped }: typeof after) =>
            [peers, skipped].map((list: readonly { readonly node: string }[]) =>
              list.filter(({ node }) => !reported.has(node)),
            );
          expect(others(after)).toEqual(others(before));
        }
      }),
    );
  });

  it('of Calico’s blocks, so it is', () => {
    const names = ['n1', 'n2', 'n3', 'n4'];
    const block = fc.record({
      node: fc.constantFrom(...names),
      cidr: fc.constantFrom('10.4.1.0/26', '10.4.1.64/26', '10.4.1.64/27', '10.4.0.0/20', '10.5.0.0/26').map(cidr),
      uid: fc.constant(''),
    });
    const borrowed = fc.array(
      fc.record({ node: fc.constantFrom(...names), cidr: fc.nat(80).map((last) => cidr(`10.4.1.${last}/32`)) }),
      { maxLength: 4 },
    );
    const source = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.tuple(source, fc.option(fc.oneof(block, fc.record({ uid: fc.constant(''), borrowed }))));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 15 }), (steps) => {
        const claims = new CalicoClaims([cidr('10.4.0.0/16')]);
        const desired = new DesiredPeers(claims);
        const byName = new Map(names.map((name) => [name, remoteNode(name, [])]));
        desired.update(byName, ownKeys);
        const objects = new Map<string, Parameters<typeof claimsOf>[0]>();
        for (const [name, object] of steps) {
          const [before, now] = [objects.get(name), object ?? undefined].map((one) => (one ? claimsOf(one) : []));
          claims.replace(name, { before: before!, now: now! });
          if (object === null) objects.delete(name);
          else objects.set(name, object);
          desired.update(new Map([...before!, ...now!].map(({ node }) => [node, byName.get(node)])), ownKeys);
          const [affinities, blocksOfAll] = [
            [...objects.values()].filter((one) => 'cidr' in one),
            [...objects.values()].filter((one) => 'borrowed' in one),
          ];
          const all = calicoClaims(affinities, blocksOfAll, [cidr('10.4.0.0/16')]);
          expect(desired.all()).toEqual(desiredPeers(byName.values(), { ownKeys, calicoClaims: all }));
        }
      }),
    );
  });
});

it('a change concerns the Nodes in conflict alone, whatever the sizes of blocks', () => {
  const count = 50;
  const node = (number: number, block: string, more: Partial<RemoteNode> = {}) =>
    remoteNode(`n${number}`, [block], { publicKey: `key ${number}`, ...more });
  const desired = new DesiredPeers();
  const update = (...changed: readonly RemoteNode[]) => [
    ...desired.update(new Map(changed.map((one) => [one.name, one])), ownKeys),
  ];
  update(...Array.from({ length: count }, (_, i) => node(i, `10.4.${i}.0/24`)));
  expect(update(node(7, '10.4.7.0/24', { endpoint: '192.0.2.99:51820' }))).toEqual(['n7']);
  expect(update(node(60, '10.4.7.0/25')).toSorted()).toEqual(['n60', 'n7']);
  expect(update(node(61, '10.4.100.0/24', { publicKey: 'key 7' })).toSorted()).toEqual(['n60', 'n61', 'n7']);
  // A wider block, and its end.
  expect(update(node(62, '10.4.8.0/23'))).toHaveLength(count + 3);
  expect(update(node(9, '10.4.9.0/24', { readyUntilMs: 5 })).toSorted()).toEqual(['n62', 'n8', 'n9']);
  desired.update(new Map([['n62', undefined]]), ownKeys);
  expect(update(node(9, '10.4.9.0/24'))).toEqual(['n9']);
});

describe('for any Nodes', () => {
  it('no two peers share a key or an address, and none has our key', () => {
    fc.assert(
      fc.property(nodes, (list) => {
        const { peers } = desiredPeers(list, { ownKeys });
        const keys = peers.map(({ publicKey }) => publicKey);
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).not.toContain(OWN);
        const all = peers.flatMap(({ allowedIps }) => allowedIps.map(cidr));
        expect(all.filter((one, i) => all.slice(0, i).some((other) => overlaps(one, other)))).toEqual([]);
      }),
    );
  });

  it('their order changes nothing', () => {
    fc.assert(
      fc.property(
        nodes.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        ([list, shuffled]) => {
          expect(desiredPeers(shuffled, { ownKeys })).toEqual(desiredPeers(list, { ownKeys }));
        },
      ),
    );
  });

  it('a younger Node that is not Ready takes nothing from an older one', () => {
    fc.assert(
      fc.property(nodes, blocks, fc.constantFrom(key(1), key(2), key(5)), (list, cidrs, publicKey) => {
        // Held, without an age, and last by name: no Node is younger.
        const young = remoteNode('n99', cidrs, { publicKey, createdMs: 0, readyUntilMs: 0, held: true });
        const { peers } = desiredPeers([...list, young], { ownKeys });
        expect(peers.filter(({ node }) => node !== 'n99')).toEqual(desiredPeers(list, { ownKeys }).peers);
      }),
    );
  });

  it('a younger Node takes nothing from an older one that is Ready', () => {
    fc.assert(
      fc.property(nodes, blocks, fc.constantFrom(key(1), key(2), key(5)), (list, cidrs, publicKey) => {
        const ready = list.map(({ held: _held, ...node }) => ({ ...node, readyUntilMs: Infinity }));
        const young = remoteNode('n99', cidrs, { publicKey, createdMs: 0 });
        const { peers } = desiredPeers([...ready, young], { ownKeys });
        expect(peers.filter(({ node }) => node !== 'n99')).toEqual(desiredPeers(ready, { ownKeys }).peers);
      }),
    );
  });

  it('each Node has all of its blocks, or a reason why not', () => {
    fc.assert(
      fc.property(nodes, (list) => {
        const { peers, skipped } = desiredPeers(list, { ownKeys });
        for (const { name, podCidrs } of list) {
          const has = peers.find(({ node }) => node === name)?.allowedIps.length ?? 0;
          expect(has < podCidrs.length).toBe(podCidrs.length > 0 && skipped.some(({ node }) => node === name));
        }
      }),
    );
  });

  it('with Calico’s blocks, no two peers have the same CIDR', () => {
    const names = fc.constantFrom('n1', 'n2', 'n3', 'n4');
    const affinity = fc.record({
      node: names,
      cidr: fc.constantFrom('10.4.1.0/26', '10.4.1.64/26', '10.4.1.128/26', '10.5.0.0/26').map(cidr),
      uid: fc.constant(''),
    });
    const borrowed = fc.record({ node: names, cidr: fc.nat(255).map((last) => cidr(`10.4.1.${last}/32`)) });
    fc.assert(
      fc.property(fc.array(affinity), fc.array(borrowed), (affinities, singles) => {
        const claims = calicoClaims(affinities, [{ uid: '', borrowed: singles }], [cidr('10.4.0.0/16')]);
        const list = ['n1', 'n2', 'n3', 'n4'].map((name) => remoteNode(name, []));
        const all = desiredPeers(list, { ownKeys, calicoClaims: claims }).peers.flatMap(({ allowedIps }) => allowedIps);
        expect(new Set(all).size).toBe(all.length);
        expect(all.filter((text) => !text.startsWith('10.4.'))).toEqual([]);
        const whole = all.filter((text) => text.endsWith('/26')).map(cidr);
        expect(whole.filter((one, i) => whole.slice(0, i).some((other) => overlaps(one, other)))).toEqual([]);
      }),
    );
  });
});
