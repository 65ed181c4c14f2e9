// Companions of NetworkPolicies, by docs/network-policies.md.
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import { type Change, names, remotes, type State, type View } from '../subject.ts';

/** The namespace of all NetworkPolicies. */
const NAMESPACE = 'shop';

/** Where users write NetworkPolicies, and the app companions. */
export const POLICIES = `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`;

export const NAMESPACES = '/api/v1/namespaces';

/** So small that companions have shards. */
export const MAX_ADDRESSES = 3;

const CLUSTER = 'cluster.clusterset.k8s.io';
const NAME = 'kubernetes.io/metadata.name';
const OURS = 'policy.semaphore.uw.io';

type Labels = Readonly<Record<string, string>>;
type Requirement = { readonly key: string; readonly operator: string; readonly values?: readonly string[] };
type Selector = { readonly matchLabels?: Labels; readonly matchExpressions?: readonly Requirement[] };
type Peer = {
  readonly namespaceSelector?: Selector;
  readonly podSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string };
};
type Rule = {
  readonly ports?: readonly { readonly protocol?: string; readonly port?: number }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
};
type Spec = {
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
};

const directions = [
  ['Ingress', ({ ingress }: Spec) => ingress],
  ['Egress', ({ egress }: Spec) => egress],
] as const;

/** The CIDRs of the addresses of a Pod that the config allows; none of a Pod that is never selected. */
export type NetsOfPod = (cluster: string, pod: KubeObject) => readonly string[];

const policyChange = (name: string, spec: object): Change => ({
  cluster: 'c1',
  collection: POLICIES,
  name,
  object: {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name },
    spec: { policyTypes: ['Ingress', 'Egress'], ...spec },
  },
});

const STAYS = 'stays';
const selects = (matchLabels: Labels): Peer => ({ namespaceSelector: { matchLabels } });

/** One without companions, and one whose companions always have the Pods that stay. */
export const stayingPolicies: readonly Change[] = [
  policyChange('foreign', { podSelector: {} }),
  policyChange(STAYS, {
    podSelector: { matchLabels: { app: 'db' } },
    ingress: [{ from: [selects({ [CLUSTER]: 'c2', [NAME]: 'shop' })], ports: [{ protocol: 'TCP', port: 5432 }] }],
  }),
];

/** What the companions of the policy that stays have of these CIDRs of c2, as {@link textsOf} tells it. */
export const stayingTexts = (nets: readonly string[]): readonly string[] =>
  nets.map((net) => `${STAYS} c2 Ingress 5432/TCP ${net}`);

/** A user changes or deletes a NetworkPolicy. */
export function changedPolicy(dice: Dice, appLabel: string): Change {
  const ofCluster = (): Selector =>
    dice.pick([
      { matchLabels: { [CLUSTER]: 'c2' } },
      { matchLabels: { [CLUSTER]: 'c9' } },
      { matchExpressions: [{ key: CLUSTER, operator: 'Exists' }] },
      { matchExpressions: [{ key: CLUSTER, operator: 'DoesNotExist' }] },
      { matchExpressions: [{ key: CLUSTER, operator: 'In', values: ['c1', 'c3'] }] },
      { matchExpressions: [{ key: CLUSTER, operator: 'NotIn', values: ['c2'] }] },
      {},
    ]);
  const ofNamespace = (): Labels => dice.pick<Labels>([{}, {}, { [NAME]: 'shop' }, { team: 'one' }]);
  const ofPod = (): Selector =>
    dice.pick([
      {},
      { matchLabels: { [appLabel]: 'web' } },
      { matchExpressions: [{ key: appLabel, operator: 'NotIn', values: ['web', 'c'] }] },
    ]);
  const peer = (): Peer => {
    const namespaceSelector = ofCluster();
    const both = { ...namespaceSelector, matchLabels: { ...namespaceSelector.matchLabels, ...ofNamespace() } };
    return dice.pick([
      { namespaceSelector: both },
      { namespaceSelector: both, podSelector: ofPod() },
      { podSelector: ofPod() },
      { ipBlock: { cidr: '192.0.2.0/24' } },
    ]);
  };
  const rules = (side: 'from' | 'to'): readonly Rule[] | null =>
    dice.pick([0, 1, 1, 2]) === 0
      ? null
      : Array.from({ length: dice.integer(1, 2) }, () => ({
          ...dice.pick([{}, { ports: [{ protocol: 'TCP', port: dice.integer(80, 82) }] }]),
          [side]: Array.from({ length: dice.integer(1, 2) }, peer),
        }));
  const change = policyChange(`comes-${dice.integer(0, 2)}`, {
    podSelector: { matchLabels: { app: dice.pick(['db', 'cache']) } },
    ingress: rules('from'),
    egress: rules('to'),
  });
  return dice.integer(1, 6) === 1 ? { ...change, object: null } : change;
}

/** A namespace of a remote gets labels, also one that says falsely which cluster it is in. */
export function changedNamespace(dice: Dice, namespaces: readonly string[]): Change {
  const name = dice.pick(namespaces);
  const labels = { team: dice.pick(['one', 'two', null]), [CLUSTER]: dice.pick([null, null, ...names]) };
  return {
    cluster: dice.pick(remotes),
    collection: NAMESPACES,
    name,
    object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } },
  };
}

/** Whether it is a NetworkPolicy that {@link changedPolicy} changes. */
export const isChangingPolicy = (object: KubeObject): boolean =>
  !isCompanion(object) && 'policyTypes' in specOf(object) && object.metadata.name.startsWith('comes-');

export const isCompanion = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  labels[`${OURS}/managed-by`] === 'semaphore-policy';

const specOf = (object: KubeObject): Spec => object['spec'] as Spec;

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  const holds = ({ key, operator, values = [] }: Requirement): boolean => {
    const has = Object.hasOwn(labels, key);
    switch (operator) {
      case 'In':
        return has && values.includes(labels[key]!);
      case 'NotIn':
        return !has || !values.includes(labels[key]!);
      case 'Exists':
        return has;
      default:
        return !has;
    }
  };
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every(holds);
}

const namesCluster = ({ matchLabels = {}, matchExpressions = [] }: Selector): boolean =>
  CLUSTER in matchLabels || matchExpressions.some(({ key }) => key === CLUSTER);

const portsOf = ({ ports = [] }: Rule): string =>
  ports.map(({ protocol = 'TCP', port }) => `${port}/${protocol}`).join('+') || 'all';

/** Without the ports of a CIDR that is open on all: rules with the same peers are one rule, others stay apart. */
const withoutNeedless = (opens: ReadonlySet<string>): readonly string[] =>
  [...opens].filter((one) => one.startsWith('all ') || !opens.has(`all ${one.split(' ')[1]}`)).toSorted();

/** What each policy must have for each remote and direction: which Pods it concerns, and what it lets reach them. */
export function wantedCompanions(state: State, remotes: readonly string[], pods: string, netsOfPod: NetsOfPod): View {
  const view: Record<string, object> = {};
  for (const source of state['c1']![POLICIES]!.filter((each) => !isCompanion(each)))
    for (const cluster of remotes)
      for (const [direction, rulesOf] of directions) {
        const opens = new Set<string>();
        for (const rule of rulesOf(specOf(source)) ?? [])
          for (const { namespaceSelector, podSelector = {} } of rule.from ?? rule.to ?? []) {
            if (namespaceSelector === undefined || !namesCluster(namespaceSelector)) continue;
            const namespaces = state[cluster]![NAMESPACES]!.filter(({ metadata: { labels } }) =>
              matches(namespaceSelector, { ...labels, [CLUSTER]: cluster }),
            ).map(({ metadata }) => metadata.name);
            for (const pod of state[cluster]![pods]!) {
              const { namespace = '', labels = {} } = pod.metadata;
              if (!namespaces.includes(namespace) || !matches(podSelector, labels)) continue;
              for (const net of netsOfPod(cluster, pod)) opens.add(`${portsOf(rule)} ${net}`);
            }
          }
        const { podSelector } = specOf(source);
        if (opens.size > 0)
          view[`${source.metadata.name} ${cluster} ${direction}`] = {
            podSelector,
            opens: withoutNeedless(opens),
            odd: [],
          };
      }
  return view;
}

/** `db c2 Ingress`. */
const keyOf = (companion: KubeObject): string => {
  const { labels = {}, annotations = {} } = companion.metadata;
  const { policyTypes } = specOf(companion);
  return `${annotations[`${OURS}/source`]} ${labels[`${OURS}/cluster`]} ${policyTypes.join('+')}`;
};

/** A line for each port and CIDR; `everything` where a rule has no peer. */
function opensOf(companion: KubeObject): readonly string[] {
  const { ingress = [], egress = [] } = specOf(companion);
  return [...ingress, ...egress].flatMap((rule) => {
    const peers = rule.from ?? rule.to ?? [];
    const cidrs = peers.map(({ ipBlock }) => ipBlock?.cidr ?? 'everything');
    return (cidrs.length === 0 ? ['everything'] : cidrs).map((cidr) => `${portsOf(rule)} ${cidr}`);
  });
}

export const textsOf = (object: KubeObject): readonly string[] =>
  isCompanion(object) ? opensOf(object).map((opens) => `${keyOf(object)} ${opens}`) : [];

/** Shards as one, since nothing says which has which address; `odd` are those that have too many, or another selector. */
export function observedCompanions(objects: readonly KubeObject[], remotes: readonly string[]): View {
  const ours = objects.filter(isCompanion);
  const groups = Map.groupBy(
    ours.filter(({ metadata: { labels = {} } }) => remotes.includes(labels[`${OURS}/cluster`]!)),
    keyOf,
  );
  const viewOf = (shards: readonly KubeObject[]): object => {
    const { podSelector } = specOf(shards[0]!);
    const odd = shards.filter(
      (shard) =>
        new Set(opensOf(shard).map((opens) => opens.split(' ')[1])).size > MAX_ADDRESSES ||
        JSON.stringify(specOf(shard).podSelector) !== JSON.stringify(podSelector),
    );
    const opens = withoutNeedless(new Set(shards.flatMap(opensOf)));
    return { podSelector, opens, odd: odd.map(({ metadata }) => metadata.name) };
  };
  return Object.fromEntries(Array.from(groups, ([key, shards]) => [key, viewOf(shards)]));
}
