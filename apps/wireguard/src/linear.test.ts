import type { IpamBlock } from '@kube-semaphore/kube-objects';
import { superlinearAt } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { settingsOfFile } from './config/file-settings.ts';
import { readAffinity, readBlock } from './mesh/remote/calico-blocks.ts';
import { parseEndpoint } from './mesh/desired/endpoint.ts';
import { readNode } from './mesh/remote/node.ts';
import { calicoClaims, cidr } from '../test/support/builders.ts';

const subnets = [cidr('10.0.0.0/8'), cidr('fd00::/16')];
/** One with two bytes for each address that it says is in use. */
const block = (bytes: number, spec: Partial<IpamBlock['spec']> = {}): IpamBlock => ({
  metadata: { name: 'b', namespace: '', uid: 'u', resourceVersion: '1' },
  spec: {
    cidr: '10.0.0.0/8',
    affinity: '',
    deleted: false,
    allocations: Array.from({ length: bytes / 2 }, () => 0),
    attributes: [{ secondary: { node: 'n1' } }],
    ...spec,
  },
});

const claimsOf = (blocks: readonly IpamBlock[]) => calicoClaims([], blocks.map(readBlock), subnets);

/** Blocks of Calico, all of whose addresses one node has borrowed. */
const borrowed = (bytes: number): readonly IpamBlock[] =>
  Array.from({ length: Math.ceil(bytes / 128) }, (_, i) =>
    block(128, { cidr: `10.${i >>> 10}.${(i >>> 2) & 255}.${(i & 3) * 64}/26` }),
  );

const rules = {
  local: 'c1',
  podSubnets: subnets,
  allowedIpsFrom: 'podCIDRs',
  endpoints: { podSubnets: subnets, allowedEndpoints: undefined, ownIps: new Set<string>() },
  dialsOut: false,
} as const;

const node = (podCIDRs: readonly string[], annotation = '') => ({
  metadata: {
    name: 'n1',
    namespace: '',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: 0,
    labels: {},
    annotations: {
      'c1.wireguard.semaphore.uw.io/pubKey': annotation,
      'c1.wireguard.semaphore.uw.io/endpoint': annotation,
    },
  },
  spec: { podCIDR: '', podCIDRs },
  status: { conditions: [], addresses: [] },
});

const cidrs = (bytes: number): readonly string[] =>
  Array.from({ length: bytes / 16 }, (_, i) => `10.${i >>> 16}.${(i >>> 8) & 255}.${i & 255}/32`);

it.each<{ name: string; input: (bytes: number) => unknown; work: (input: never) => unknown }>([
  { name: 'an IPAMBlock with too many allocations', input: block, work: (one: IpamBlock) => claimsOf([one]) },
  {
    name: 'an IPAMBlock of IPv6',
    input: (bytes) => block(bytes, { cidr: 'fd00::/64' }),
    work: (one: IpamBlock) => claimsOf([one]),
  },
  { name: 'IPAMBlocks', input: borrowed, work: claimsOf },
  {
    name: 'BlockAffinities',
    input: cidrs,
    work: (texts: readonly string[]) =>
      calicoClaims(
        texts.map((text) => ({ uid: '', node: 'n1', cidr: cidr(text) })),
        [],
        subnets,
      ),
  },
  {
    name: 'a BlockAffinity',
    input: (bytes) => '1'.repeat(bytes),
    work: (text: string) =>
      readAffinity({
        metadata: { name: '', namespace: '', uid: '', resourceVersion: '' },
        spec: { cidr: text, node: text, state: 'confirmed', type: '', deleted: false },
      }),
  },
  {
    name: 'the podCIDRs of a Node',
    input: (bytes) => node(cidrs(bytes)),
    work: (one: ReturnType<typeof node>) => readNode(one, rules),
  },
  {
    name: 'invalid podCIDRs',
    input: (bytes) => node(cidrs(bytes).map((text) => `x${text}`)),
    work: (one: ReturnType<typeof node>) => readNode(one, rules),
  },
  {
    name: 'the annotations of a Node',
    input: (bytes) => node([], 'A'.repeat(bytes)),
    work: (one: ReturnType<typeof node>) => readNode(one, rules),
  },
  {
    name: 'a remote with many ranges',
    input: cidrs,
    work: (podSubnet: string[]) =>
      settingsOfFile({ local: { name: 'c1' }, remotes: [{ name: 'c2', kubeConfigPath: '/c2', podSubnet }] }),
  },
  ...['1', 'a', '.', ':', '[', 'a.', 'a-', '1.', 'f:', '0:', '\n', '%'].map((unit) => ({
    name: `an endpoint of ${JSON.stringify(unit)}`,
    input: (bytes: number) => unit.repeat(bytes / unit.length),
    work: (text: string) => [parseEndpoint(text), parseEndpoint(`${text}:1`), parseEndpoint(`[${text}]:1`)],
  })),
])('$name takes linear time, up to 1 MB', ({ input, work }) => {
  expect(superlinearAt({ input, work: work as (given: unknown) => unknown })).toBeUndefined();
});
