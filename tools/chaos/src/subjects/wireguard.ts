import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import { node } from '@kube-semaphore/testkit';
import { breaks, endsBy, type NodeFacts, startNode } from '../sites/node.ts';
import {
  CLOCKS_MS,
  type Change,
  NO_SETTINGS,
  type Remote,
  remotes as remoteNames,
  SHORT_PAUSES_MS,
  type State,
  type Subject,
  type View,
} from '../subject.ts';
import type { Claim } from './blocks.ts';

export const NODES = '/api/v1/nodes';

/** Where it runs: the first node of a network has this address. */
const OWN_IP = '172.31.0.1';
const DOMAIN = 'wireguard.semaphore.uw.io';

type OfRemote = {
  readonly podSubnet: readonly string[];
  readonly wgListenPort: number;
  readonly wgDeviceMTU: number;
  readonly allowedEndpointCIDRs?: readonly string[];
};

const numberOf = (cluster: string): number => Number(cluster.slice(1));
/** The Pods of c2 have 10.4.0.0/16 and fd00:4::/48, those of c3 have the next. */
const subnetOf = (cluster: string): number => numberOf(cluster) + 2;

/** What the config file says of each remote. */
export const settings = Object.fromEntries(
  remoteNames.map((name, nth): [Remote, OfRemote] => [
    name,
    {
      podSubnet: [`10.${subnetOf(name)}.0.0/16`, `fd00:${subnetOf(name)}::/48`],
      wgListenPort: 51_820 + numberOf(name),
      wgDeviceMTU: nth % 2 === 0 ? 1380 : 1400,
      ...(name === 'c3' && { allowedEndpointCIDRs: ['198.51.100.0/24', '2001:db8::/32'] }),
    },
  ]),
) as Readonly<Record<Remote, OfRemote>>;

/** A private key of a text, clamped as `wg genkey` does, and the public key that belongs to it. */
function pairOf(text: string): { readonly privateKey: string; readonly publicKey: string } {
  const bytes = createHash('sha256').update(text).digest();
  bytes[0]! &= 248;
  bytes[31] = (bytes[31]! & 127) | 64;
  // RFC 8410: what comes before the bytes of an X25519 key.
  const der = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), bytes]);
  const publicKey = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  return {
    privateKey: bytes.toString('base64'),
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'),
  };
}

/** Our key for each remote, which stays whatever happens. */
export const ownKeys = Object.fromEntries(remoteNames.map((name) => [name, pairOf(`our key for ${name}`)])) as Readonly<
  Record<Remote, ReturnType<typeof pairOf>>
>;
const publicKeys = new Map<string, string>();

/** The public key of a text. Each takes a while. */
function keyOf(text: string): string {
  const known = publicKeys.get(text) ?? pairOf(text).publicKey;
  publicKeys.set(text, known);
  return known;
}

type RemoteNode = {
  readonly cluster: string;
  readonly name: string;
  readonly podCIDRs: readonly string[];
  readonly pubKey: string | null;
  readonly endpoint: string | null;
  readonly ready?: readonly [status: string, since: string];
  readonly labels?: Readonly<Record<string, string>>;
  /** The ports of its two devices. */
  readonly planes?: string | null;
};

function nodeChange({
  cluster,
  name,
  podCIDRs,
  pubKey,
  endpoint,
  ready,
  labels = {},
  planes = null,
}: RemoteNode): Change {
  const object = node({ name, podCIDRs, labels });
  const [status = 'True', lastTransitionTime = '2026-01-01T00:00:00Z'] = ready ?? [];
  return {
    cluster: cluster as Remote,
    collection: NODES,
    name,
    object: {
      ...object,
      metadata: {
        ...object.metadata,
        annotations: {
          [`c1.${DOMAIN}/pubKey`]: pubKey,
          [`c1.${DOMAIN}/endpoint`]: endpoint,
          [`c1.${DOMAIN}/planes`]: planes,
        },
      },
      status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] },
    },
  };
}

const staying: readonly RemoteNode[] = remoteNames.flatMap((cluster) => {
  const k = subnetOf(cluster);
  return [1, 2].map((i) => ({
    cluster,
    name: `stays-${i}`,
    podCIDRs: [`10.${k}.${i}.0/24`, `fd00:${k}:0:${i}::/64`],
    pubKey: keyOf(`${cluster} stays-${i}`),
    endpoint: `198.51.100.${i}:51820`,
  }));
});

/** Nodes that come and go; the last of them dials out. */
export const COMING = 8;

/** Of Nodes that lie, or whose agents are broken. Most are no peers then. */
const BAD_KEYS = ['', 'key', `${'A'.repeat(43)}=`, `${'/'.repeat(43)}=`, ` ${keyOf('x')}`, `${keyOf('x')} remove`];
/** Without c3 in the file, a Node of c2 may have it, and there is no way to it. */
const IN_C3 = '10.5.1.10:51820';
const BAD_ENDPOINTS = [
  '',
  'node.example.org:51820',
  '198.51.100.9',
  '198.51.100.9:0',
  '198.51.100.9:65536',
  '127.0.0.1:51820',
  '169.254.169.254:80',
  '224.0.0.1:51820',
  '0.0.0.0:51820',
  '[::1]:51820',
  '[fe80::1]:51820',
  '[ff02::1]:51820',
  `${OWN_IP}:51820`,
  '10.4.1.10:51820',
  IN_C3,
  '[fd00:4:0:1::a]:51820',
];

/** @param rotates whether it may have two devices; then nothing here knows our key. @param reached whether there is a way to all */
export function nodeOf(dice: Dice, { rotates = false, reached = false } = {}): Change {
  const cluster = dice.pick(remoteNames);
  const k = subnetOf(cluster);
  const i = dice.integer(1, COMING);
  const name = `comes-${i}`;
  if (dice.integer(1, 5) === 1) return { cluster, collection: NODES, name, object: null };
  const other = 10 + dice.integer(1, COMING);
  const own = [`10.${k}.${10 + i}.0/24`, `fd00:${k}:0:${10 + i}::/64`];
  const podCIDRs = dice.pick([
    own,
    own,
    own,
    [own[0]!],
    [own[1]!],
    [`10.${k}.${other}.0/24`, own[1]!],
    [`10.${k}.${other}.128/25`],
    [`10.${k}.1.0/24`, own[1]!],
    [`10.${k}.0.0/16`],
    [`10.${k}.0.0/15`, own[1]!],
    [own[0]!, '::/0'],
    ['0.0.0.0/0'],
    [`10.${k === 4 ? 5 : 4}.1.0/24`],
    ['10.1.1.0/24'],
    ['169.254.0.0/16'],
    [],
  ]);
  const dialsOut = i === COMING;
  const ownKey = keyOf(`${cluster} ${name} ${dice.integer(1, 3)}`);
  const pubKey = dialsOut
    ? dice.pick([ownKey, ownKey, null])
    : dice.pick([
        ...Array.from({ length: 12 }, () => ownKey),
        keyOf(`${cluster} comes-${dice.integer(1, COMING - 1)} ${dice.integer(1, 3)}`),
        keyOf(`${cluster} stays-1`),
        ...(rotates ? [] : remoteNames.map((each) => ownKeys[each].publicKey)),
        dice.pick(BAD_KEYS),
        null,
      ]);
  const port = dice.integer(51_000, 51_003);
  const four = `198.51.100.${10 + i}:${port}`;
  const endpoints = [four, reached ? four : `[2001:db8::${i}]:${port}`];
  const badEndpoints = reached ? BAD_ENDPOINTS.filter((each) => each !== IN_C3) : BAD_ENDPOINTS;
  const endpoint = dialsOut
    ? null
    : dice.pick([...endpoints, ...endpoints, ...endpoints, `203.0.113.${i}:${port}`, dice.pick(badEndpoints)]);
  return nodeChange({
    cluster,
    name,
    podCIDRs,
    pubKey,
    endpoint,
    ready: [dice.pick(['True', 'True', 'True', 'Unknown']), `2026-01-0${dice.integer(1, 3)}T00:00:00Z`],
    labels: { rack: dice.pick(['a', 'b']) },
    ...(rotates && { planes: dice.pick([null, `${port},${port + 100}`, `${port},${port + 100}`, `${port}`]) }),
  });
}

/** Where no Node is: docs/wireguard.md#which-nodes-become-peers, "loopback, multicast, a metadata service or similar". */
const NO_NODES = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/4', '::/96', 'fe80::/10', 'ff00::/8'];

const familyOf = (ip: string) => (isIPv4(ip) ? 'ipv4' : 'ipv6');

function isIn(ip: string, ranges: readonly string[]): boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', length] = range.split('/');
    list.addSubnet(network, Number(length), familyOf(network));
  }
  return list.check(ip, familyOf(ip));
}

const lengthOf = (cidr: string): number => Number(cidr.split('/')[1]);

/** Whether a range has all of another one. */
const hasAll = (range: string, other: string): boolean =>
  lengthOf(range) <= lengthOf(other) && isIn(other.split('/')[0]!, [range]);

const overlap = (a: string, b: string): boolean => hasAll(a, b) || hasAll(b, a);

const isKey = (text: string): boolean => /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(text) && !/^A+=$/.test(text);

/** Whether tunnels to an endpoint may be made. */
function isEndpoint(text: string, cluster: Remote, remotes: readonly Remote[]): boolean {
  const [, six, four, port] = /^(?:\[(.*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
  const ip = six ?? four ?? '';
  const { allowedEndpointCIDRs: allowed } = settings[cluster];
  const refused = [...NO_NODES, ...remotes.flatMap((name) => settings[name].podSubnet), `${OWN_IP}/32`];
  return (
    isIP(ip) === (six === undefined ? 4 : 6) &&
    Number(port) > 0 &&
    Number(port) < 65_536 &&
    !isIn(ip, refused) &&
    (allowed === undefined || isIn(ip, allowed))
  );
}

type Candidate = {
  readonly key: string;
  readonly endpoint: string | undefined;
  readonly cidrs: readonly Claim[];
  readonly createdMs: number;
  readonly name: string;
  /** Since when it isn't Ready any more. */
  readonly readyUntilMs: number;
};

/** A Node that could be a peer, by itself. */
function candidateOf(
  { metadata, status }: KubeObject,
  claims: readonly Claim[],
  { cluster, remotes }: { readonly cluster: Remote; readonly remotes: readonly Remote[] },
): readonly Candidate[] {
  const {
    name,
    annotations = {},
    creationTimestamp,
  } = metadata as KubeObject['metadata'] & { creationTimestamp: string };
  const [key = '', endpoint] = ['pubKey', 'endpoint'].map((each) => annotations[`c1.${DOMAIN}/${each}`]);
  if (!isKey(key) || (endpoint !== undefined && !isEndpoint(endpoint, cluster, remotes))) return [];
  if (remotes.some((name) => key === ownKeys[name].publicKey)) return [];
  const cidrs = claims.filter(({ cidr }) => settings[cluster].podSubnet.some((subnet) => hasAll(subnet, cidr)));
  if (cidrs.length === 0) return [];
  const { conditions = [] } = status as { conditions?: { type: string; status: string; lastTransitionTime: string }[] };
  const ready = conditions.find(({ type }) => type === 'Ready');
  const readyUntilMs = ready?.status === 'True' ? Infinity : Date.parse(ready?.lastTransitionTime ?? '1970-01-01');
  return [{ key, endpoint, cidrs, createdMs: Date.parse(creationTimestamp), name, readyUntilMs }];
}

const byAge = (a: Candidate, b: Candidate): number => a.createdMs - b.createdMs || (a.name < b.name ? -1 : 1);

/** A key belongs to the oldest Node that is Ready, else to the last one that was. */
const byKeyRight = (a: Candidate, b: Candidate): number =>
  a.readyUntilMs === b.readyUntilMs ? byAge(a, b) : b.readyUntilMs - a.readyUntilMs;

/** The peers of a remote's device: docs/wireguard.md#which-nodes-become-peers. @param remotes those of the file */
export function peersOf(
  nodes: readonly KubeObject[],
  { cluster, remotes }: { readonly cluster: Remote; readonly remotes: readonly Remote[] },
  claimsOf: (node: KubeObject) => readonly Claim[] = podCIDRsOf,
): readonly (Candidate & { readonly allowedIps: readonly string[] })[] {
  const candidates = nodes.flatMap((each) => candidateOf(each, claimsOf(each), { cluster, remotes })).toSorted(byAge);
  const byKey = Map.groupBy(candidates, ({ key }) => key);
  const owners = new Set(Array.from(byKey.values(), (rivals) => rivals.toSorted(byKeyRight)[0]));
  const taken: Claim[] = [];
  return candidates.flatMap((candidate) => {
    if (!owners.has(candidate)) return [];
    const isTaken = ({ cidr, borrowed }: Claim): boolean =>
      taken.some((other) => (borrowed || other.borrowed ? cidr === other.cidr : overlap(cidr, other.cidr)));
    const won = candidate.cidrs.filter((claim) => !isTaken(claim));
    taken.push(...won);
    return won.length === 0 ? [] : [{ ...candidate, allowedIps: won.map(({ cidr }) => cidr).toSorted() }];
  });
}

const podCIDRsOf = ({ spec }: KubeObject): readonly Claim[] =>
  ((spec as { podCIDRs?: readonly string[] }).podCIDRs ?? []).map((cidr) => ({ cidr, borrowed: false }));

/** As `wg` shows them. */
export const peerViews = (peers: ReturnType<typeof peersOf>, cluster: Remote): View =>
  Object.fromEntries(
    peers.map(({ key, endpoint = '(none)', allowedIps }) => [
      `${cluster} ${key}`,
      { endpoint, allowedIps, keepalive: '25' },
    ]),
  );

export const configWith =
  (more: (name: string) => object): Subject['config'] =>
  (local, remotes) => ({
    local: { name: 'c1', kubeConfigPath: local },
    remotes: Object.entries(remotes).map(([name, kubeConfigPath]) => ({
      name,
      kubeConfigPath,
      ...settings[name as Remote],
      ...more(name),
    })),
  });

export const facts: NodeFacts = {
  privateKeys: Object.fromEntries(remoteNames.map((name) => [name, ownKeys[name].privateKey])),
  staying: staying.map(({ cluster, pubKey, podCIDRs }) => ({ cluster, key: pubKey!, podCIDRs })),
  overlap,
};

/** Peers that never answered: all, unless a Node lives. */
export const peersNever = (view: View, remotes: readonly string[]): ReturnType<Subject['metrics']> =>
  remotes.map((remote) => [
    'peers',
    { device: `wireguard.${remote}`, state: 'never' },
    Object.keys(view).filter((name) => name.startsWith(`${remote} `)).length,
  ]);

/** What each device must be, and what our Node must say: docs/wireguard.md#names. */
export function wanted(state: State, remotes: readonly string[]): View {
  const view: Record<string, object> = {};
  const inFile = remotes as readonly Remote[];
  for (const cluster of inFile) {
    const { podSubnet, wgListenPort: port, wgDeviceMTU: mtu } = settings[cluster];
    const { publicKey } = ownKeys[cluster];
    const announced = { pubKey: publicKey, endpoint: `${OWN_IP}:${port}` };
    const routes = podSubnet.toSorted();
    view[`wireguard.${cluster}`] = { alias: `semaphore-wireguard ${cluster}`, mtu, port, publicKey, routes, announced };
    Object.assign(view, peerViews(peersOf(state[cluster]![NODES]!, { cluster, remotes: inFile }), cluster));
  }
  return view;
}

export const wireguard: Subject = {
  app: 'wireguard',
  prefix: 'semaphore_wg',
  rights: { local: ['wireguard/base'], remote: ['wireguard/remote'] },
  owns: false,
  elects: false,
  crds: [],
  namespaces: [],
  flags: ['-node-name=n1', '-observe-period=1s'],
  configFlag: 'clusters-config',
  config: configWith(() => ({})),
  staying: [
    ...staying.map(nodeChange),
    {
      cluster: 'c1',
      collection: NODES,
      name: 'n1',
      object: { ...node({ name: 'n1', podCIDRs: ['10.1.1.0/24'], internalIPs: [OWN_IP] }) },
    },
  ],
  sources: [NODES],
  resources: ['nodes'],
  change: (dice) => nodeOf(dice),
  pausesMs: SHORT_PAUSES_MS,
  clocksMs: CLOCKS_MS,
  breaks,
  endsBy,
  settings: [NO_SETTINGS],
  wanted,
  site: (clusters, input) => startNode(facts, clusters, input),
  secrets: remoteNames.map((name) => ownKeys[name].privateKey),
  metrics: (view, remotes) => peersNever(view, remotes),
};
