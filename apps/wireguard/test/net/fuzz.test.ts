import { BlockList, isIP, isIPv6 } from 'node:net';
import { join } from 'node:path';
import {
  blockAffinityKind,
  Codec,
  DecodeError,
  ipamBlockKind,
  type Kind,
  type KubeObject,
  nodeKind,
  parseJson,
} from '@kube-semaphore/kube-objects';
import { hostCidr } from '@kube-semaphore/net';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { Dice } from '@kube-semaphore/fault-proxy';
import { createMetrics } from '@kube-semaphore/runtime';
import { expect } from 'vitest';
import type { RemoteSettings } from '../../src/config/settings.ts';
import type { DesiredPeer } from '../../src/mesh/desired/peers.ts';
import { announcedBy } from '../../src/mesh/desired/diff/peers.ts';
import { DeviceHealth } from '../../src/mesh/health/device-health.ts';
import { metrics } from '../../src/metrics/metrics.ts';
import { Reconciler } from '../../src/mesh/reconciler.ts';
import { readAffinity, readBlock } from '../../src/mesh/remote/calico-blocks.ts';
import { readNode } from '../../src/mesh/remote/node.ts';
import { calicoClaims, cidr, desiredPeers, remoteSettings, silentLog } from '../support/builders.ts';
import { type HostileObjects, hostileObjects } from '../support/hostile-nodes.ts';
import { type MeshNode, wireGuardGo } from '../support/mesh.ts';
import { itWithMesh } from '../support/mesh-it.ts';

const { signal } = new AbortController();
const DEVICE = 'wireguard.c2';
const PODS = ['10.2.0.0/16', 'fd00:2::/48'];
const NODES = ['198.51.100.0/24', '2001:db8::/32'];

/** Other addresses of the local cluster. */
const LOCAL = ['10.1.0.0/16', 'fd00:1::/48', '10.96.0.0/12', '10.96.0.1', '172.31.0.0/24'];

/** No remote Node can be there. */
const NO_NODES = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/96',
  'fe80::/10',
  'ff00::/8',
  ...PODS,
];

/** The key of zeros: `wg` accepts it for a peer, although it says that a device has no key. */
const NO_KEY = `${'A'.repeat(43)}=`;

const ROUNDS = 12;

/** The minimum of peers in each round, as an empty device proves nothing. */
const SOME_PEERS = 40;

const it = itWithMesh.extend('shape', { scope: 'file' }, () => ({ c1: 1 }));

it('makes wg show the desired peers, and never the local cluster, for any remote', async ({ mesh }) => {
  const near = mesh.nodes[0]!;
  const nodeIps = [near.machine.ipv4, near.machine.ipv6];
  const local = [...nodeIps, ...near.podCidrs, ...Object.values(near.podIps), ...LOCAL];
  const reconciler = reconcilerOn(near);
  let before: readonly DesiredPeer[] = [];
  const reconcile = async (settings: RemoteSettings, peers: readonly DesiredPeer[]) => {
    const nodes = [...before, ...peers].map(({ node }) => node);
    before = peers;
    const remote = { peers: () => ({ peers, skipped: [] }), takeUpdate: () => ({ nodes, peers }) };
    await reconciler.reconcile(
      { settings, ...remote, setDeviceDiagnostics: () => undefined },
      { signal, since: undefined },
    );
  };
  await reconcile(settingsOf(0), []);
  let onDevice: ReadonlyMap<string, string> = new Map();
  const ourKey = (await near.tools.device(DEVICE, { signal }))!.publicKey!;
  for (let round = 1; round <= ROUNDS; round++) {
    const settings = settingsOf(round);
    const peers = meantPeers(hostileObjects(new Dice(round), { ourKey, local }), { settings, nodeIps, ourKey });
    // By turns, it compares with what the device shows, and with what it was given.
    const isObserved = round % 3 === 0;
    if (isObserved) reconciler.observe(settings.name);
    const announced = announcedBy(before);
    await reconcile(settings, peers);
    const shown = await shownPeers(near);
    const meant = peers.map((peer) => textOf(peer, endpointOf(peer, { onDevice, announced, isObserved })));
    expect([round, shown]).toEqual([round, meant.toSorted()]);
    onDevice = new Map(shown.map((text) => text.split(' ', 2) as [key: string, endpoint: string]));
    const nowhere = settings.allowedEndpoints === undefined ? [...NO_NODES, ...nodeIps.map(hostCidr)] : undefined;
    const harm = shown.flatMap((peer) => harmOf(peer, { ourKey, nowhere }));
    expect([round, shown.length >= SOME_PEERS, harm]).toEqual([round, true, []]);
  }
});

/** Rounds differ in where blocks of Nodes come from, and in whether endpoints must be in allowed CIDRs. */
function settingsOf(round: number): RemoteSettings {
  return remoteSettings({
    podSubnets: PODS.map(cidr),
    allowedIpsFrom: round % 2 === 0 ? 'calico-blocks' : 'podCIDRs',
    allowedEndpoints: round % 4 < 2 ? undefined : NODES.map(cidr),
  });
}

type MeaningOptions = {
  readonly settings: RemoteSettings;
  readonly nodeIps: readonly string[];
  readonly ourKey: string;
};

/** The peers that the app makes of objects. It skips what it can't decode, as a watch does. */
function meantPeers({ nodes, affinities, blocks }: HostileObjects, options: MeaningOptions): readonly DesiredPeer[] {
  const { settings, nodeIps, ourKey } = options;
  const { podSubnets, allowedIpsFrom, allowedEndpoints } = settings;
  const endpoints = { podSubnets, allowedEndpoints, ownIps: new Set(nodeIps) };
  const rules = { local: 'c1', podSubnets, allowedIpsFrom, endpoints, dialsOut: false };
  const candidates = readAll(nodeKind, nodes).flatMap((node) => readNode(node, rules).node ?? []);
  const claims = calicoClaims(
    readAll(blockAffinityKind, affinities).flatMap((affinity) => readAffinity(affinity) ?? []),
    readAll(ipamBlockKind, blocks).map(readBlock),
    podSubnets,
  );
  // As in a store, the later of two Nodes with the same name counts.
  const byName = new Map(candidates.map((node) => [node.name, node]));
  return desiredPeers(byName.values(), {
    ownKeys: new Set([ourKey]),
    ...(allowedIpsFrom === 'calico-blocks' && { calicoClaims: claims }),
  }).peers;
}

function readAll<K extends Kind>(kind: K, objects: readonly Buffer[]): readonly KubeObject<K>[] {
  const codec = new Codec(kind);
  return objects.flatMap((bytes) => {
    try {
      return [codec.objectFromJson(parseJson(bytes))];
    } catch (error) {
      if (error instanceof DecodeError) return [];
      throw error;
    }
  });
}

/** The reconciler of the app, with the tools of the node. It announces nothing. */
function reconcilerOn({ machine, tools, keyFolder, podCidrs }: MeshNode): Reconciler {
  const node = {
    uid: 'u',
    resourceVersion: '1',
    annotations: {},
    internalIps: [machine.ipv4, machine.ipv6],
    externalIps: [],
    endpointAddress: undefined,
    podCidrs: podCidrs.map(cidr),
  };
  const clock = () => ({ nowSeconds: Date.now() / 1_000, staleSeconds: 180 });
  const { metrics: instruments } = createMetrics(metrics);
  return new Reconciler({
    devices: {
      tools,
      startUserspace: async ({ name }) => {
        const { pid } = machine.spawn(wireGuardGo(), ['-f', name], { stdio: 'ignore' });
        await eventually(() => tools.device(name, { signal }), isDefined, { what: `wireguard-go on ${name}` });
        return { pid: pid! };
      },
      userspace: 'auto',
      logFile: (device) => join(keyFolder, `${device}.log`),
    },
    local: { node, required: () => node, announce: () => Promise.resolve() },
    options: { wgKeyPath: keyFolder },
    clock,
    health: new DeviceHealth({ metrics: instruments, log: silentLog, clock }),
    log: silentLog,
    metrics: instruments,
  });
}

/** As `wg` prints that there is no endpoint: such a Node speaks first. */
const NO_ENDPOINT = '(none)';

/**
 * A Node that announces no endpoint any more dials out, and the kernel keeps what it has. So it does when the Node announces one
 * again, until the device is observed: no tunnel of this test is up then.
 */
function endpointOf(
  { publicKey, endpoint }: DesiredPeer,
  before: Readonly<Record<'onDevice' | 'announced', ReadonlyMap<string, string>>> & { readonly isObserved: boolean },
): string {
  const [kept, last] = [before.onDevice.get(publicKey), before.announced.get(publicKey)];
  const isNew = kept === undefined || before.isObserved || (last !== undefined && last !== endpoint);
  return endpoint !== undefined && isNew ? endpoint : (kept ?? NO_ENDPOINT);
}

const textOf = ({ publicKey, allowedIps }: DesiredPeer, endpoint: string): string =>
  [publicKey, endpoint, ...allowedIps.toSorted()].join(' ');

/** The key, the endpoint and the blocks of each peer, as `wg` prints them. */
async function shownPeers({ machine }: MeshNode): Promise<readonly string[]> {
  const [, ...lines] = (await machine.run('wg', ['show', DEVICE, 'dump'])).trim().split('\n');
  return lines
    .map((line) => {
      const [publicKey, , endpoint, allowedIps = ''] = line.split('\t');
      return [publicKey, endpoint, ...allowedIps.split(',').toSorted()].join(' ');
    })
    .toSorted();
}

type HarmOptions = {
  readonly ourKey: string;
  /** Where no endpoint may be; undefined: each must be in `NODES`. */
  readonly nowhere: readonly string[] | undefined;
};

/** What is wrong with a peer, even a desired one. Node.js parses the addresses here, not our code. */
function harmOf(peer: string, { ourKey, nowhere }: HarmOptions): readonly string[] {
  const [publicKey, endpoint = '', ...allowedIps] = peer.split(' ');
  const [host, port] = [
    endpoint.slice(0, endpoint.lastIndexOf(':')).replace(/^\[|\]$/g, ''),
    Number(endpoint.slice(endpoint.lastIndexOf(':') + 1)),
  ];
  const isGoodHost = isIP(host) !== 0 && (nowhere === undefined ? isIn(host, NODES) : !isIn(host, nowhere));
  return [
    ...(publicKey === ourKey || publicKey === NO_KEY ? [`the key ${publicKey}`] : []),
    ...(endpoint === NO_ENDPOINT || (isGoodHost && port > 0) ? [] : [`the endpoint ${endpoint}`]),
    ...(allowedIps.every(isOfPods) && allowedIps.length > 0 ? [] : [`the blocks ${allowedIps.join(' ')}`]),
  ];
}

/** A block is in a larger one if its first address is. */
function isOfPods(block: string): boolean {
  const [ip = '', length = ''] = block.split('/');
  return isIn(ip, PODS) && Number(length) >= (isIPv6(ip) ? 48 : 16);
}

function isIn(ip: string, blocks: readonly string[]): boolean {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', length = ''] = block.split('/');
    list.addSubnet(network, Number(length), isIPv6(network) ? 'ipv6' : 'ipv4');
  }
  return list.check(ip, isIPv6(ip) ? 'ipv6' : 'ipv4');
}
