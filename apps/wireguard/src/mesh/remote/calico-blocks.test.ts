import {
  type BlockAffinity,
  blockAffinityKind,
  Codec,
  type IpamBlock,
  ipamBlockKind,
} from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { readAffinity, readBlock } from './calico-blocks.ts';
import { calicoClaims, cidr } from '../../../test/support/builders.ts';

const metadata = { name: 'n1-10-4-1-0-26', namespace: '', uid: 'u1', resourceVersion: '7' };

const affinity = (spec: Partial<BlockAffinity['spec']> = {}): BlockAffinity => {
  return {
    metadata,
    spec: { cidr: '10.4.1.0/26', node: 'n1', state: 'confirmed', type: '', deleted: 'false', ...spec },
  };
};

const of = (node: string) => ({ secondary: { node, pod: 'p', namespace: 'ns' } });

const block = (spec: Partial<IpamBlock['spec']> = {}): IpamBlock => {
  return {
    metadata,
    spec: { cidr: '10.4.1.0/26', affinity: 'host:n1', deleted: false, allocations: [], attributes: [], ...spec },
  };
};

describe('readAffinity', () => {
  it.each([
    { name: 'a confirmed one', spec: {} },
    { name: 'one of a host', spec: { type: 'host' } },
    { name: 'one without `deleted`', spec: { deleted: undefined } },
    { name: 'one with `deleted` as a boolean', spec: { deleted: false } },
  ])('reads $name', ({ spec }) => {
    expect(readAffinity(affinity(spec))).toEqual({ uid: 'u1', node: 'n1', cidr: cidr('10.4.1.0/26') });
  });

  it.each([
    { name: 'a pending one', spec: { state: 'pending' } },
    { name: 'one that is being deleted', spec: { state: 'pendingDeletion' } },
    { name: 'one without a state', spec: { state: '' } },
    { name: 'a deleted one', spec: { deleted: 'true' } },
    { name: 'one with `deleted: true` as a boolean', spec: { deleted: true } },
    { name: 'one of no host', spec: { type: 'virtual' } },
    { name: 'one without a node', spec: { node: '' } },
    { name: 'one without a block', spec: { cidr: 'x' } },
  ])('skips $name', ({ spec }) => {
    expect(readAffinity(affinity(spec))).toBeUndefined();
  });
});

describe('readBlock', () => {
  const attributes = [of('n1'), of('n2'), { secondary: {} }];

  it.each([
    { name: 'nothing that its own node uses', spec: { allocations: [0, 0, null] }, want: [] },
    {
      name: 'what another node uses',
      spec: { allocations: [0, 1, null, 1] },
      want: ['n2 10.4.1.1/32', 'n2 10.4.1.3/32'],
    },
    {
      name: 'all used addresses of a released block',
      spec: { affinity: '', allocations: [0, 1] },
      want: ['n1 10.4.1.0/32', 'n2 10.4.1.1/32'],
    },
    { name: 'nothing of services', spec: { affinity: 'virtual:load-balancer', allocations: [0, 1] }, want: [] },
    { name: 'nothing without a node', spec: { allocations: [2, 2] }, want: [] },
    { name: 'nothing of a deleted block', spec: { deleted: true, allocations: [1] }, want: [] },
    { name: 'nothing of a malformed block', spec: { cidr: 'x', allocations: [1] }, want: [] },
    { name: 'nothing if allocations is not a list', spec: { allocations: 'x' }, want: [] },
    { name: 'nothing of invalid allocations', spec: { allocations: ['1', -1, 9, {}, 0.5] }, want: [] },
    {
      name: 'nothing beyond its end',
      spec: { cidr: '10.4.1.0/31', allocations: [null, 1, 1] },
      want: ['n2 10.4.1.1/32'],
    },
    {
      name: 'nothing of a block that is too large for Calico',
      spec: { cidr: '10.4.0.0/19', allocations: [1] },
      want: [],
    },
    { name: 'nothing of such an IPv6 block', spec: { cidr: 'fd00:4::/115', allocations: [1] }, want: [] },
    {
      name: 'from the largest block of Calico',
      spec: { cidr: '10.4.0.0/20', allocations: [null, 1] },
      want: ['n2 10.4.0.1/32'],
    },
    { name: 'IPv6', spec: { cidr: 'fd00:4::40/122', allocations: [null, 1] }, want: ['n2 fd00:4::41/128'] },
  ])('borrows $name', ({ spec, want }) => {
    const { uid, borrowed } = readBlock(block({ attributes, ...spec }));
    expect(uid).toBe('u1');
    expect(borrowed.map(({ node, cidr: { text } }) => `${node} ${text}`)).toEqual(want);
  });
});

describe('CalicoClaims', () => {
  const subnets = [cidr('10.4.0.0/16')];
  const has = (node: string, text: string) => ({ uid: '', node, cidr: cidr(text) });
  const brief = (claims: ReturnType<typeof calicoClaims>) =>
    Object.fromEntries(
      [...claims].map(([node, own]) => [
        node,
        own.map((claim) => `${claim.cidr.text}${claim.isBorrowed ? ' borrowed' : ''}`),
      ]),
    );

  it('has the blocks of each Node, and the addresses that it borrows', () => {
    const affinities = [has('n1', '10.4.1.64/26'), has('n2', '10.4.2.0/26'), has('n1', '10.4.1.0/26')];
    const borrowed = [{ uid: '', borrowed: [has('n1', '10.4.2.7/32'), has('n3', '10.4.2.8/32')] }];
    expect(brief(calicoClaims(affinities, borrowed, subnets))).toEqual({
      n1: ['10.4.1.0/26', '10.4.1.64/26', '10.4.2.7/32 borrowed'],
      n2: ['10.4.2.0/26'],
      n3: ['10.4.2.8/32 borrowed'],
    });
  });

  it('ignores addresses that no Pod can have', () => {
    const wide = [cidr('100.64.0.0/10')];
    const borrowed = [{ uid: '', borrowed: [has('n1', '100.100.100.200/32'), has('n1', '100.64.0.7/32')] }];
    expect(brief(calicoClaims([has('n1', '100.100.100.192/26')], borrowed, wide))).toEqual({
      n1: ['100.64.0.7/32 borrowed'],
    });
  });

  it('ignores pools that aren’t shared', () => {
    expect(
      brief(calicoClaims([has('n1', '10.9.0.0/26')], [{ uid: '', borrowed: [has('n1', '10.9.0.7/32')] }], subnets)),
    ).toEqual({});
  });

  it('has each claim once, and none in another, in any order', () => {
    const affinities = [
      has('n1', '10.4.1.64/26'),
      has('n1', '10.4.1.0/24'),
      has('n1', '10.4.1.0/24'),
      has('n1', '10.4.3.1/32'),
    ];
    const borrowed = ['10.4.3.1/32', '10.4.2.7/32', '10.4.1.9/32', '10.4.2.7/32'].map((text) => ({
      uid: '',
      borrowed: [has('n1', text)],
    }));
    const want = { n1: ['10.4.1.0/24', '10.4.2.7/32 borrowed', '10.4.3.1/32'] };
    expect(brief(calicoClaims(affinities, borrowed, subnets))).toEqual(want);
    expect(brief(calicoClaims(affinities.toReversed(), borrowed.toReversed(), subnets))).toEqual(want);
  });

  it('has no single address of the Node’s own block', () => {
    expect(
      brief(calicoClaims([has('n1', '10.4.2.0/26')], [{ uid: '', borrowed: [has('n1', '10.4.2.7/32')] }], subnets)),
    ).toEqual({ n1: ['10.4.2.0/26'] });
  });
});

/** As `kubectl get` shows them, shortened. */
describe('an object of Calico', () => {
  const written = (kind: string, spec: object) => ({
    apiVersion: 'crd.projectcalico.org/v1',
    kind,
    metadata: {
      name: '10-4-1-0-26',
      uid: 'u1',
      resourceVersion: '7',
      annotations: { 'projectcalico.org/metadata': '{"creationTimestamp":null}' },
    },
    spec,
  });

  it('is read as a BlockAffinity', () => {
    const object = written('BlockAffinity', { cidr: '10.4.1.0/26', deleted: 'false', node: 'n2', state: 'confirmed' });
    expect(readAffinity(new Codec(blockAffinityKind).objectFromJson(object))).toMatchObject({ uid: 'u1', node: 'n2' });
  });

  it('is read as an IPAMBlock', () => {
    const object = written('IPAMBlock', {
      affinity: 'host:n1',
      allocations: [0, null, 1],
      attributes: [
        { handle_id: 'vxlan-tunnel-addr-n1', secondary: { node: 'n1', type: 'vxlanTunnelAddress' } },
        { handle_id: 'k8s-pod-network.1', secondary: { namespace: 'ns', node: 'n2', pod: 'p' } },
      ],
      cidr: '10.4.1.0/26',
      deleted: false,
      sequenceNumber: 1,
      strictAffinity: false,
      unallocated: [1],
    });
    const { borrowed } = readBlock(new Codec(ipamBlockKind).objectFromJson(object));
    expect(borrowed).toEqual([{ node: 'n2', cidr: cidr('10.4.1.2/32') }]);
  });
});
