// Which cluster answers, by docs/routing.md; and to which clusters something is exported, by docs/service-mirror.md#chosen-clusters.
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import { inNamespace } from '../sites/objects.ts';
import { type Change, names, remotes, type Settings, type State, type Subject } from '../subject.ts';

export const CONFIG_MAPS = '/api/v1/configmaps';
const DRAINS = 'semaphore-drains';
const ORDER = 'semaphore.uw.io/cluster-order';
const MIN_READY = 'semaphore.uw.io/min-ready';
const EXPORT_TO = 'semaphore.uw.io/export-to';

/** The cluster that reads, its zone, and that of all others in hints. */
const [LOCAL, LOCAL_ZONE, REMOTE_ZONE] = ['c1', 'z1', 'remote'] as const;

/** What `properties` says of the local cluster, always. */
const LOCAL_PROPERTIES: Properties = { region: 'eu' };

/** One that has a level too many is ignored as a whole. */
const INVALID_ORDER = [...Array.from({ length: 16 }, () => 'c2'), '*'].join('; ');

type Texts = Readonly<Record<string, string | null>>;
type Properties = Readonly<Record<string, string>>;

/** What a Service or a ServiceExport says about clusters. Null: nothing, also if it did. */
export function someAnnotations(dice: Dice): Texts {
  const [order, minReady] = dice.pick([
    [null, null],
    [null, null],
    ['local; *', null],
    ['local; *', '2'],
    ['c3; local; c2', null],
    ['c2; *', '50%'],
    ['c3, local; c2', '3'],
    ['region=same; *', null],
    ['region=eu; region=us', null],
    ['region=us, c2; zone=a; *', '2'],
    ['c2; c9', null],
    ['c9', null],
    [INVALID_ORDER, null],
    ['local; *', '200%'],
  ] as const);
  return { [ORDER]: order, [MIN_READY]: minReady };
}

/** To whom a Service or ServiceExport is exported. Null: to all. */
export const someExportTo = (dice: Dice): Texts => ({
  [EXPORT_TO]: dice.pick([null, null, null, null, '*', 'c1', 'c9, region=eu', 'c2, c3', 'region=us', '']),
});

/** The annotations of a source that stays in all clusters: its order moves all traffic when a cluster is drained. */
export const stayingOrder: Properties = { [ORDER]: 'c2; local; *', [MIN_READY]: '2' };

/** A user drains clusters, or ends that. @param namespace of the mirrors */
export function changedDrains(dice: Dice, namespace: string): Change {
  const value = dice.pick([
    null,
    null,
    'by hand',
    '{"since":"2026-01-01T00:00:00Z","by":"someone","reason":"kernels"}',
  ]);
  const clusters = dice.integer(1, 4) === 1 ? names : [dice.pick(names)];
  const data = Object.fromEntries(clusters.map((name) => [name, value]));
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: DRAINS }, data };
  return {
    cluster: LOCAL,
    collection: inNamespace(CONFIG_MAPS, namespace),
    name: DRAINS,
    object: dice.integer(1, 5) === 1 ? null : object,
  };
}

/** What the file may say of the remotes, in turn. */
const ofRemotes: readonly (readonly Readonly<Record<string, unknown>>[])[] = [
  [{ properties: { region: 'eu' } }, { properties: { region: 'us' } }],
  [
    { properties: { region: 'us' }, mirrorNamespaces: ['shop'] },
    { properties: { region: 'eu' }, mirrorNamespaces: ['shop'] },
  ],
  [{ mirrorNamespaces: ['shop', 'other'] }, {}],
];

/** What its sections may say. */
const ofSections: readonly Settings['rest'][] = [
  {},
  { mcs: { localFirst: true } },
  {
    global: { clusterOrder: { 'shop/stays-ranked': 'c3; *', 'shop/all': 'c2' } },
    mcs: { clusterOrder: { 'shop/out-stays': 'c3; *', 'shop/out': 'c3; c2' } },
  },
  { global: { clusterOrder: 'local; *' }, mcs: { localFirst: true, clusterOrder: { '*': 'region=same; *' } } },
];

const settingsOf = (some: (typeof ofRemotes)[number], rest: Settings['rest']): Settings => ({
  remotes: Object.fromEntries(remotes.map((name, nth) => [name, some[nth % some.length]!])),
  rest,
});
export const settings: Subject['settings'] = [
  settingsOf(ofRemotes[0]!, {}),
  ...ofRemotes.flatMap((some) => ofSections.map((rest) => settingsOf(some, rest))),
];

/** The parts of the file that never change. */
export const localProperties = { properties: LOCAL_PROPERTIES };

/** What decides beside the sources. */
export type Mesh = {
  readonly drained: readonly string[];
  readonly properties: Readonly<Record<string, Properties>>;
  /** By `namespace/name`, or `*`. */
  readonly orders: Readonly<Record<'global' | 'mcs', Readonly<Record<string, string>>>>;
  /** Of imports. */
  readonly localFirst: boolean;
  /** By remote; one that is missing has all. */
  readonly namespaces: Readonly<Record<string, readonly string[]>>;
};

/** @param namespace of the mirrors */
export function meshOf(
  state: State,
  clusters: readonly string[],
  { said, namespace }: { said: Settings; namespace: string },
): Mesh {
  const { remotes: ofRemotes, rest } = said;
  const drains = (state[LOCAL]![CONFIG_MAPS] ?? []).find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === DRAINS,
  );
  const ordersOf = (section: string) => {
    const orders = (rest[section]?.['clusterOrder'] ?? {}) as string | Record<string, string>;
    return typeof orders === 'string' ? { '*': orders } : orders;
  };
  const fieldOf = (field: string) =>
    clusters.flatMap((name) => {
      const value = ofRemotes[name]?.[field];
      return value === undefined ? [] : [[name, value] as const];
    });
  return {
    drained: Object.keys((drains?.['data'] ?? {}) as object),
    properties: {
      ...(Object.fromEntries(fieldOf('properties')) as Record<string, Properties>),
      [LOCAL]: LOCAL_PROPERTIES,
    },
    orders: { global: ordersOf('global'), mcs: ordersOf('mcs') },
    localFirst: rest['mcs']?.['localFirst'] === true,
    namespaces: Object.fromEntries(fieldOf('mirrorNamespaces')) as Record<string, string[]>,
  };
}

/** Whether the local cluster uses a Service or ServiceExport. */
export function isExportedHere({ metadata: { annotations = {} } }: KubeObject, cluster: string): boolean {
  const { [EXPORT_TO]: list } = annotations;
  if (list === undefined || cluster === LOCAL) return true;
  const local = Object.entries(LOCAL_PROPERTIES).map(([name, value]) => `${name}=${value}`);
  return list.split(',').some((each) => ['*', LOCAL, ...local].includes(each.trim()));
}

export type Wish = { readonly order?: string; readonly minReady?: string };

/** What an object says; undefined: nothing that is valid. */
export function wishOf({ metadata: { annotations = {} } }: KubeObject): Wish | undefined {
  const { [ORDER]: order, [MIN_READY]: minReady } = annotations;
  const wish = {
    ...(order !== undefined && order !== INVALID_ORDER && { order }),
    ...(minReady !== undefined && minReady !== '200%' && { minReady }),
  };
  return Object.keys(wish).length === 0 ? undefined : wish;
}

/** The order that is in force for a Service, and `min-ready`. */
export function inForce(
  mesh: Mesh,
  kind: 'global' | 'mcs',
  { at, wish, otherwise }: { at: string; wish: Wish | undefined; otherwise?: string },
): Wish {
  const order = mesh.orders[kind][at] ?? mesh.orders[kind]['*'] ?? wish?.order ?? otherwise;
  return { ...(order !== undefined && { order }), ...(wish?.minReady !== undefined && { minReady: wish.minReady }) };
}

/** What a global Service or a ServiceImport shows of that. */
export const shownOrder = ({ order, minReady = '' }: Wish): string =>
  order === undefined ? '' : `${order} ${minReady}`;
export const shownOrderOf = (object: KubeObject): string => shownOrder(wishOf(object) ?? {});

/** An endpoint as its own cluster says, with all conditions. */
export type SourceEndpoint = {
  readonly addresses: readonly string[];
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
  readonly hostname?: string | undefined;
  readonly zones?: readonly string[];
};
export type SourceSlice = {
  readonly cluster: string;
  readonly addressType: string;
  readonly endpoints: readonly SourceEndpoint[];
};

export type Service = Wish & {
  /** The clusters that have it, some without slices. */
  readonly clusters: readonly string[];
  readonly headless: boolean;
  /** Whether its endpoints have hints, also without an order. */
  readonly hinted: boolean;
};

/** The slices of a Service as they must be, without those of clusters that get no traffic. `standby`: it has one. */
export function inOrder<S extends SourceSlice>(
  slices: readonly S[],
  { clusters, headless, hinted, order: wish, minReady }: Service,
  mesh: Mesh,
): readonly (S & { readonly standby: boolean })[] {
  const isDrained = clusters.some((each) => mesh.drained.includes(each));
  const order = wish ?? (isDrained ? (hinted && !headless ? 'local; *' : '*') : undefined);
  const hasHints = hinted || wish !== undefined;
  const zonesOf = (isNear: boolean) => (hasHints ? [isNear ? LOCAL_ZONE : REMOTE_ZONE] : []);
  if (order === undefined)
    return slices.map((slice) => {
      const zones = zonesOf(slice.cluster === LOCAL);
      return { ...slice, standby: false, endpoints: slice.endpoints.map((each) => ({ ...each, zones })) };
    });
  const levels = levelsOf(order, clusters, mesh);
  // DNS of a headless Service knows only what is ready.
  const roles = rolesOf(slices, { minReady, hasHints: hasHints && !headless, levels }, mesh);
  return slices
    .filter(({ cluster }) => levels.has(cluster))
    .map((slice) => {
      const role = roles.get(slice.cluster);
      const isStandby = ({ ready, serving }: SourceEndpoint): boolean => role === 'standby' && ready && serving;
      const endpoints = slice.endpoints.map((each) => ({
        ...each,
        ...(isStandby(each) && { ready: false, terminating: true }),
        zones: zonesOf(role === 'first' && each.ready),
      }));
      return { ...slice, endpoints, standby: slice.endpoints.some(isStandby) };
    });
}

type Role = 'first' | 'second' | 'standby';

/** The level of each cluster, by its place; one that is missing gets no traffic. */
function levelsOf(order: string, clusters: readonly string[], { properties }: Mesh): ReadonlyMap<string, number> {
  const levels = order.split('; ').map((level) => level.split(', '));
  const isNamed = (cluster: string, text: string): boolean => {
    const [property = '', value] = text.split('=');
    if (value === undefined) return text === cluster || (text === 'local' && cluster === LOCAL);
    const own = properties[cluster]?.[property];
    return own !== undefined && own === (value === 'same' ? properties[LOCAL]![property] : value);
  };
  const others = levels.findIndex((level) => level.includes('*'));
  const found = clusters.map((cluster) => {
    const level = levels.findIndex((each) => each.some((text) => isNamed(cluster, text)));
    return [cluster, level === -1 ? others : level] as const;
  });
  return new Map(found.filter(([, level]) => level !== -1));
}

/** The role of each cluster that a level has. */
function rolesOf(
  slices: readonly SourceSlice[],
  {
    minReady,
    hasHints,
    levels,
  }: { minReady: string | undefined; hasHints: boolean; levels: ReadonlyMap<string, number> },
  { drained }: Mesh,
): ReadonlyMap<string, Role> {
  const groups = Map.groupBy(
    levels,
    ([cluster, level]) => `${drained.includes(cluster) ? 'drained' : 'active'} ${level}`,
  );
  const able = Array.from(groups.values(), (members) => {
    const [[first, level]] = members as [[string, number]];
    const own = slices.filter(({ cluster }) => members.some(([name]) => name === cluster));
    const isDrained = drained.includes(first);
    const isDown = !isDrained && minReady !== undefined && !isEnough(own, minReady);
    const isAble = own.some(({ endpoints }) => endpoints.some(({ ready }) => ready));
    return { members: members.map(([name]) => name), level, isAble, isDrained, isDown };
  })
    .filter(({ isAble }) => isAble)
    .toSorted(
      (a, b) => Number(a.isDrained) - Number(b.isDrained) || Number(a.isDown) - Number(b.isDown) || a.level - b.level,
    );
  const [first, second] = able;
  const roleOf = (cluster: string): Role => {
    if (first?.members.includes(cluster) === true) return 'first';
    return hasHints && second?.isDrained === false && second.members.includes(cluster) ? 'second' : 'standby';
  };
  return new Map([...levels.keys()].map((cluster) => [cluster, roleOf(cluster)]));
}

/** Whether one family has enough: of Pods with two addresses, one counts. */
function isEnough(slices: readonly SourceSlice[], minReady: string): boolean {
  return ['IPv4', 'IPv6'].some((family) => {
    const endpoints = slices.filter(({ addressType }) => addressType === family).flatMap((slice) => slice.endpoints);
    const count = (some: readonly SourceEndpoint[]): number => new Set(some.map(({ addresses }) => addresses[0])).size;
    const all = count(endpoints.filter(({ terminating }) => !terminating));
    const least = minReady.endsWith('%') ? (all * Number.parseInt(minReady)) / 100 : Number(minReady);
    return count(endpoints.filter(({ ready }) => ready)) >= Math.max(1, least);
  });
}
