import { ConfigError } from '@kube-semaphore/runtime';
import {
  blockAffinityKind,
  Codec,
  DecodeError,
  ipamBlockKind,
  nodeKind,
  parseJson,
} from '@kube-semaphore/kube-objects';
import { fuzz, type FuzzTarget, mutateBytes, mutateJson, node } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { readAffinity, readBlock } from './mesh/remote/calico-blocks.ts';
import { parseClustersFile } from './config/file.ts';
import { settingsOfFile } from './config/file-settings.ts';
import { readNode } from './mesh/remote/node.ts';
import { calicoClaims, cidr } from '../test/support/builders.ts';

const nodes = new Codec(nodeKind);
const affinities = new Codec(blockAffinityKind);
const blocks = new Codec(ipamBlockKind);
const podSubnets = [cidr('10.0.0.0/8'), cidr('fd00::/16')];
const rules = {
  local: 'c1',
  podSubnets,
  allowedIpsFrom: 'podCIDRs',
  endpoints: { podSubnets, allowedEndpoints: undefined, ownIps: new Set<string>() },
  dialsOut: false,
} as const;

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));
const isExpected = (error: unknown): boolean => error instanceof DecodeError;

const annotations = {
  'c1.wireguard.semaphore.uw.io/pubKey': 'yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=',
  'c1.wireguard.semaphore.uw.io/endpoint': '192.0.2.1:51820',
};

const calico = (kind: string, spec: object): Buffer =>
  json({ apiVersion: 'crd.projectcalico.org/v1', kind, metadata: { name: 'a', uid: 'u', resourceVersion: '1' }, spec });
const attributes = [
  { secondary: { node: 'n2', pod: 'a', namespace: 'ns' } },
  { secondary: { type: 'ipipTunnelAddress', node: 'n3' } },
];

const clustersFile = {
  local: { name: 'c1', kubeConfigPath: '/k' },
  remotes: [
    { name: 'c2', kubeConfigPath: '/c2', podSubnet: '10.4.0.0/16', resyncPeriod: '1h' },
    {
      name: 'c3',
      remoteAPIURL: 'https://c3',
      remoteCAURL: 'file:///ca',
      remoteSATokenPath: '/t',
      podSubnet: ['10.5.0.0/16', 'fd00:5::/48'],
      wgListenPort: 51_821,
      deviceAddress: 'auto',
      endpointFamily: 'ipv6',
      allowedEndpointCIDRs: ['192.0.2.0/24'],
      keyRotation: { every: '720h', secondPort: 51_921 },
    },
  ],
};

const yaml = `# ours
local: { name: c1 }
remotes:
- name: c2
  kubeConfigPath: "/c2"
  podSubnet: 10.4.0.0/16
  wgDeviceMTU: 1380
`;

function readConfig(source: string): unknown {
  const file = parseClustersFile(source);
  const settings = file.ok ? settingsOfFile(file.value) : file;
  return settings.ok ? [settings, file] : new ConfigError(settings.problems);
}

const configFiles = { run: (bytes: Buffer) => readConfig(bytes.toString()), isExpected: () => false };

const targets: readonly (FuzzTarget & { readonly name: string })[] = [
  {
    name: 'a Node',
    seeds: [
      node({ name: 'n1', annotations, podCIDRs: ['10.4.0.0/24', 'fd00:4::/64'] }),
      node({ name: 'n2', podCIDRs: ['10.4.1.0/24'] }),
    ].map(json),
    mutate: mutateJson,
    run: (bytes) => readNode(nodes.objectFromJson(parseJson(bytes)), rules),
    isExpected,
  },
  {
    name: 'a BlockAffinity',
    seeds: [
      calico('BlockAffinity', { cidr: '10.0.0.0/26', node: 'n1', state: 'confirmed', type: 'host', deleted: 'false' }),
    ],
    mutate: mutateJson,
    run: (bytes) =>
      calicoClaims(
        [readAffinity(affinities.objectFromJson(parseJson(bytes)))].filter((block) => block !== undefined),
        [],
        podSubnets,
      ),
    isExpected,
  },
  {
    name: 'an IPAMBlock',
    seeds: [
      calico('IPAMBlock', { cidr: '10.0.0.0/26', affinity: 'host:n1', allocations: [0, null, 1], attributes }),
      calico('IPAMBlock', { cidr: 'fd00::/122', affinity: '', deleted: 'false', allocations: [1, 1], attributes }),
      calico('IPAMBlock', { cidr: '10.0.0.0/8', affinity: '', allocations: [1, 1], attributes }),
    ],
    mutate: mutateJson,
    run: (bytes) => calicoClaims([], [readBlock(blocks.objectFromJson(parseJson(bytes)))], podSubnets),
    isExpected,
  },
  { ...configFiles, name: 'a config file in JSON', seeds: [json(clustersFile)], mutate: mutateJson },
  { ...configFiles, name: 'a config file in YAML', seeds: [Buffer.from(yaml)], mutate: mutateBytes },
];

it.each(targets)('$name is read or refused, in linear time and a bounded heap', async (target) => {
  expect(await fuzz(target)).toMatchObject({ runs: expect.any(Number) });
});
