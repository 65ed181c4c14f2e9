import { createHash } from 'node:crypto';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { globalNetworkSetCrd, pod } from '@kube-semaphore/testkit';
import { startObjects, type Writes } from '../sites/objects.ts';
import {
  CLOCKS_MS,
  type Change,
  NO_SETTINGS,
  remotes as allRemotes,
  SHORT_PAUSES_MS,
  type State,
  type Subject,
  type View,
} from '../subject.ts';
import {
  changedNamespace,
  changedPolicy,
  isChangingPolicy,
  isCompanion,
  MAX_ADDRESSES,
  NAMESPACES as ALL_NAMESPACES,
  observedCompanions,
  POLICIES,
  stayingPolicies,
  stayingTexts,
  textsOf,
  wantedCompanions,
} from './companions.ts';

const SETS = '/apis/crd.projectcalico.org/v1/globalnetworksets';
const PODS = '/api/v1/pods';
const DOMAIN = 'semaphore.uw.systems';
const MANAGER = 'calico-global-network-sync-operator';

/** What the config file allows of each remote: an IPv4 range of 16 bits, and an IPv6 one of 32. */
const ranges: Readonly<Record<string, readonly [string, string]>> = Object.fromEntries(
  allRemotes.map((name, nth) => [name, [`10.${4 + nth}`, `fd00:${4 + nth}`]]),
);

/** The names of two workloads make one name of a set: `a-b` and `c`, `a` and `b-c`. */
const NAMESPACES = ['shop', 'a', 'a-b'];
const APPS = ['web', 'web', 'api', 'c', 'b-c', 'My_App'];

/** So small that sets have shards. */
const MAX_NETS = 4;

type PodStatus = { readonly phase?: string; readonly podIPs?: readonly { readonly ip: string }[] | null };
type Member = { readonly cluster: string; readonly namespace: string; readonly app: string };
type Pod = Member & {
  readonly name: string;
  readonly ips: readonly string[];
  readonly phase?: string;
  readonly host?: boolean;
};

/** A Pod with its status, as a change. */
function podChange({ cluster, namespace, name, app, phase = 'Running', host = false, ...own }: Pod): Change {
  const { status: _status, ...object } = pod({ name, namespace, hostNetwork: host, labels: {} });
  // That of a node was never one of a Pod: the app would let it stay in its set (`host-network-kept`).
  const ips = host ? own.ips.slice(0, 1).map(() => `${ranges[cluster]![0]}.255.1`) : own.ips;
  return {
    cluster: cluster as Change['cluster'],
    collection: `/api/v1/namespaces/${namespace}/pods`,
    name,
    object: {
      ...object,
      metadata: { ...object.metadata, labels: { [`${DOMAIN}/name`]: app === '' ? null : app } },
      status: { phase, podIP: ips[0] ?? null, podIPs: ips.length === 0 ? null : ips.map((ip) => ({ ip })) },
    },
  };
}

const staying: readonly Pod[] = [
  { cluster: 'c2', namespace: 'shop', name: 'stays-0', app: 'web', ips: ['10.4.0.1', 'fd00:4::1'] },
  { cluster: 'c2', namespace: 'shop', name: 'stays-1', app: 'web', ips: ['10.4.0.2'] },
  { cluster: 'c2', namespace: 'shop', name: 'stays-2', app: 'taken', ips: ['10.4.0.3'] },
  { cluster: 'c3', namespace: 'a', name: 'stays-0', app: 'b-c', ips: ['10.5.0.1'] },
];

const foreign = (name: string): Change => ({
  cluster: 'c1',
  collection: SETS,
  name,
  object: {
    apiVersion: 'crd.projectcalico.org/v1',
    kind: 'GlobalNetworkSet',
    metadata: { name, labels: { 'managed-by': 'someone' } },
    spec: { nets: ['192.0.2.1/32'] },
  },
});

/** An API server refuses a Pod with two addresses of one family. */
const onePerFamily = (ips: readonly string[]): readonly string[] =>
  ips.filter((ip, nth) => ips.findIndex((each) => each.includes(':') === ip.includes(':')) === nth);

const netOf = (ip: string): string => `${ip}/${ip.includes(':') ? 128 : 32}`;
const netsOf = ({ spec }: KubeObject): readonly string[] => (spec as { nets?: string[] } | undefined)?.nets ?? [];
const memberKey = ({ cluster, namespace, app }: Member): string => `${cluster}/${namespace}/${app}`;
const suffixOf = (member: Member): string => createHash('sha256').update(memberKey(member)).digest('hex').slice(0, 10);

/** The workload of a set, by its labels. */
function ownerOf({ metadata: { labels = {} } }: KubeObject): Member {
  const [cluster = '', namespace = '', app = ''] = ['cluster', 'namespace', 'name'].map(
    (key) => labels[`${DOMAIN}/${key}`],
  );
  return { cluster, namespace, app };
}

/** The addresses that count: docs/policy.md#what-is-skipped. */
function netsOfPod(cluster: string, { spec, status }: KubeObject): readonly string[] {
  const { phase, podIPs } = status as PodStatus;
  if (phase === 'Succeeded' || phase === 'Failed' || (spec as { hostNetwork?: boolean }).hostNetwork === true)
    return [];
  return (podIPs ?? [])
    .map(({ ip }) => ip)
    .filter((ip) => ranges[cluster]!.some((range) => ip.startsWith(range)))
    .map(netOf);
}

/** Which Pods are members, and with which addresses: docs/policy.md#what-is-in-a-set. */
function membersOf(
  cluster: string,
  pods: readonly KubeObject[],
): ReadonlyMap<string, Member & { readonly nets: ReadonlySet<string> }> {
  const members = new Map<string, Member & { readonly nets: Set<string> }>();
  for (const pod of pods) {
    const { metadata } = pod;
    const app = metadata.labels?.[`${DOMAIN}/name`];
    const allowed = netsOfPod(cluster, pod);
    if (app === undefined || allowed.length === 0) continue;
    const member = { cluster, namespace: metadata.namespace ?? '', app };
    const { nets } = members.get(memberKey(member)) ?? { nets: new Set<string>() };
    for (const net of allowed) nets.add(net);
    members.set(memberKey(member), { ...member, nets });
  }
  return members;
}

/** The name of the first set of each workload, and the others' beginning: docs/policy.md#names-of-sets. */
function namesOf(members: readonly Member[]): ReadonlyMap<string, string> {
  const taken = new Set(['foreign', 'c2-shop-taken']);
  const inOrder = members.toSorted((a, b) => {
    const [one, other] = [a, b].map(({ namespace, app }) => `${namespace}\0${app}`) as [string, string];
    return one < other ? -1 : 1;
  });
  return new Map(
    inOrder.map((member) => {
      const plain = `${member.cluster}-${member.namespace}-${member.app}`;
      const valid = plain.toLowerCase().replaceAll('_', '-');
      const name = plain === valid && !taken.has(plain) ? plain : `${valid}-${suffixOf(member)}`;
      taken.add(name);
      return [memberKey(member), name];
    }),
  );
}

function wanted(state: State, remotes: readonly string[]): View {
  const members = remotes.flatMap((cluster) => [...membersOf(cluster, state[cluster]![PODS]!).values()]);
  const named = namesOf(members);
  const sets = members.map((member) => [
    memberKey(member),
    { name: named.get(memberKey(member)), nets: [...member.nets].toSorted(), tooLarge: [] },
  ]);
  return { ...Object.fromEntries(sets), ...wantedCompanions(state, remotes, PODS, netsOfPod) };
}

/** The sets of each workload as one, since nothing says which shard has which address. */
function observed(objects: Readonly<Record<string, readonly KubeObject[]>>, remotes: readonly string[]): View {
  const ours = objects[SETS]!.filter(isSet).filter((set) => remotes.includes(ownerOf(set).cluster));
  const views = Array.from(
    Map.groupBy(ours, (set) => memberKey(ownerOf(set))),
    ([key, sets]) => {
      const named = sets.map(({ metadata }) => metadata.name).toSorted((a, b) => a.length - b.length);
      const tooLarge = sets.filter((set) => netsOf(set).length > MAX_NETS).map(({ metadata }) => metadata.name);
      return [key, { name: named[0], nets: sets.flatMap(netsOf).toSorted(), tooLarge }];
    },
  );
  return { ...Object.fromEntries(views), ...observedCompanions(objects[POLICIES]!, remotes) };
}

const isSet = ({ metadata: { labels = {} } }: KubeObject): boolean => labels['managed-by'] === MANAGER;

/** What it writes. Exported for its test. */
export const writes: Writes = {
  targets: [SETS, POLICIES],
  observed,
  isOurs: (object) => isSet(object) || isCompanion(object),
  isSource: isChangingPolicy,
  edited: (object) => ({
    spec: isCompanion(object) ? { podSelector: { matchLabels: { edited: 'yes' } } } : { nets: ['192.0.2.99/32'] },
  }),
  always: {
    [SETS]: {
      expected: staying.flatMap((each) => each.ips.map((ip) => `${memberKey(each)} ${netOf(ip)}`)),
      of: (set) => netsOf(set).map((net) => `${memberKey(ownerOf(set))} ${net}`),
    },
    [POLICIES]: {
      expected: stayingTexts(staying.flatMap((each) => (each.namespace === 'shop' ? each.ips.map(netOf) : []))),
      of: textsOf,
    },
  },
};

export const policy: Subject = {
  app: 'policy',
  prefix: 'semaphore_policy',
  rights: {
    local: ['policy/base', 'policy/components/network-policies'],
    remote: ['policy/remote', 'policy/components/remote-namespaces'],
  },
  owns: true,
  elects: true,
  crds: [globalNetworkSetCrd('crd.projectcalico.org')],
  namespaces: NAMESPACES,
  flags: [
    `-label-domain=${DOMAIN}`,
    `-managed-by=${MANAGER}`,
    `-max-nets-per-set=${MAX_NETS}`,
    '-network-policies',
    `-max-addresses-per-policy=${MAX_ADDRESSES}`,
  ],
  configFlag: 'config',
  config: (local, remotes) => ({
    local: { kubeConfigPath: local },
    remotes: Object.entries(remotes).map(([name, kubeConfigPath]) => ({
      name,
      kubeConfigPath,
      allowedPodCIDRs: [`${ranges[name]![0]}.0.0/16`, `${ranges[name]![1]}::/32`],
    })),
  }),
  staying: [...staying.map(podChange), foreign('foreign'), foreign('c2-shop-taken'), ...stayingPolicies],
  sources: [PODS, ALL_NAMESPACES, POLICIES],
  resources: ['globalnetworksets', 'networkpolicies'],
  change(dice) {
    const kind = dice.integer(1, 8);
    if (kind === 1) return changedPolicy(dice, `${DOMAIN}/name`);
    if (kind === 2) return changedNamespace(dice, NAMESPACES);
    const cluster = dice.pick(allRemotes);
    const [four, six] = ranges[cluster]!;
    // Few addresses, so that two Pods sometimes have the same; and one that isn't allowed.
    const ip = () =>
      dice.pick([`${four}.1.${dice.integer(1, 30)}`, `${six}::${dice.integer(1, 9)}`, `10.9.0.${dice.integer(1, 3)}`]);
    const place = { cluster, namespace: dice.pick(NAMESPACES), name: `comes-${dice.integer(0, 11)}` };
    const change = podChange({
      ...place,
      app: dice.pick([...APPS, '']),
      ips: onePerFamily(dice.pick([[], [ip()], [ip()], [ip(), `${six}::a${dice.integer(1, 9)}`]])),
      phase: dice.pick(['Running', 'Running', 'Running', 'Pending', 'Succeeded', 'Failed']),
      host: dice.integer(1, 12) === 1,
    });
    return dice.integer(1, 4) === 1 ? { ...change, object: null } : change;
  },
  pausesMs: SHORT_PAUSES_MS,
  clocksMs: CLOCKS_MS,
  breaks: [],
  settings: [NO_SETTINGS],
  wanted,
  site: (clusters, input) => startObjects(writes, clusters, input),
  secrets: [],
  metrics: () => [],
};
