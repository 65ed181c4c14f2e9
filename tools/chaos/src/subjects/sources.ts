// What service-mirror reads: what comes, goes and changes of it, and what stays.
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import { inNamespace } from '../sites/objects.ts';
import { type Change, type Name, names, remotes as allRemotes } from '../subject.ts';
import { changedExport, stayingExports } from './imports.ts';
import { changedDrains, someAnnotations, someExportTo, stayingOrder } from './orders.ts';

/** Of mirrors. */
export const MIRRORS = 'sys-semaphore';
export const [SERVICES, SLICES] = ['/api/v1/services', '/apis/discovery.k8s.io/v1/endpointslices'] as const;
export const [LOCAL_SERVICES, LOCAL_SLICES] = [inNamespace(SERVICES, MIRRORS), inNamespace(SLICES, MIRRORS)];

/** What the config file allows of each remote. */
export const ranges: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  allRemotes.map((name, nth) => [name, [`10.${4 + nth}.`, `fd00:${4 + nth}:`]]),
);

export const NAMESPACES = ['shop', 'pay'];

/** Few, so that exports of several clusters have one name. */
export const EXPORTED = ['shop'];

/** What the label `mirror` of a Service, and `global`, are: by its name, so that its slices have the same labels. */
const kinds: Readonly<
  Record<
    string,
    { readonly mirror: boolean; readonly global: boolean; readonly bare?: boolean; readonly ranked?: boolean }
  >
> = {
  web: { mirror: true, global: false },
  api: { mirror: true, global: false },
  db: { mirror: true, global: false },
  [`long-${'x'.repeat(50)}`]: { mirror: true, global: false },
  // Without a selector: other clients write its slices, without its labels.
  bare: { mirror: true, global: false, bare: true },
  all: { mirror: false, global: true },
  near: { mirror: false, global: true },
  both: { mirror: true, global: true },
  ranked: { mirror: false, global: true, ranked: true },
  'ranked-near': { mirror: false, global: true, ranked: true },
};

const RANKED = Object.keys(kinds).filter((name) => kinds[name]!.ranked === true);

export type Endpoint = {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean; readonly serving?: boolean; readonly terminating?: boolean };
  readonly hostname?: string;
  readonly targetRef?: { readonly kind: string; readonly name: string };
  readonly hints?: { readonly forZones: readonly { readonly name: string }[] };
};
export type Slice = KubeObject & { readonly addressType: string; readonly endpoints?: readonly Endpoint[] | null };
export type Spec = {
  readonly type: string;
  readonly clusterIP?: string;
  readonly selector?: object;
  readonly ports?: readonly { readonly [field: string]: unknown }[];
  readonly ipFamilies?: readonly string[];
  readonly sessionAffinity?: string;
  readonly publishNotReadyAddresses?: boolean;
};

const labelsOf = (name: string): Record<string, string | null> => {
  const { mirror, global } = kinds[name]!;
  return {
    mirror: mirror ? 'true' : null,
    global: global ? 'true' : null,
    near: name.endsWith('near') ? 'true' : null,
  };
};

/** A change of one Service; a global one is the same everywhere, so no cluster is overruled. */
function serviceChange(dice: Dice, place: { cluster: Name; namespace: string; name: string }): Change {
  const { cluster, namespace, name } = place;
  const { global, bare = false, ranked = false } = kinds[name]!;
  const http = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 };
  const ports = dice.pick([
    [http],
    [{ ...http, port: 81 }],
    [http, { name: 'dns', protocol: 'UDP', port: 53, targetPort: 'dns' }],
    [{ ...http, appProtocol: 'kubernetes.io/h2c' }],
  ]);
  const various = {
    clusterIP: dice.integer(1, 4) === 1 ? 'None' : null,
    ports,
    sessionAffinity: dice.pick(['None', 'None', 'ClientIP']),
    publishNotReadyAddresses: dice.integer(1, 4) === 1,
    ipFamilyPolicy: dice.pick(['SingleStack', 'PreferDualStack']),
  };
  const object = service({
    name,
    namespace,
    selector: bare ? null : { app: name },
    spec: global ? { ports: [http] } : various,
  });
  const unlabelled = !global && dice.integer(1, 8) === 1;
  const labels = { ...labelsOf(name), ...(unlabelled && { mirror: null }) };
  const annotations = { ...someExportTo(dice), ...(ranked && someAnnotations(dice)) };
  return {
    cluster,
    collection: inNamespace(SERVICES, namespace),
    name,
    object: dice.integer(1, 4) === 1 ? null : { ...object, metadata: { ...object.metadata, labels, annotations } },
  };
}

function sliceChange(
  dice: Dice,
  { cluster, namespace, name }: { cluster: Name; namespace: string; name: string },
): Change {
  const addressType = dice.pick(['IPv4', 'IPv4', 'IPv6'] as const);
  const [four, six] = ranges[cluster] ?? ['10.1.', 'fd00:1:'];
  const address = () => {
    const last = dice.integer(1, 20);
    if (addressType === 'IPv6') return `${six}:${last}`;
    return dice.integer(1, 10) === 1 ? `10.9.0.${last}` : `${four}1.${last}`;
  };
  const endpoint = (): Endpoint => ({
    addresses: [address()],
    conditions: dice.pick([
      {},
      { ready: true, serving: true, terminating: false },
      { ready: false, serving: false, terminating: false },
      { ready: false, serving: true, terminating: true },
    ]),
    ...dice.pick([
      {},
      {},
      { hostname: `host-${dice.integer(1, 9)}` },
      { targetRef: { kind: 'Pod', name: `pod-${dice.integer(1, 9)}` } },
    ]),
  });
  const sliceName = `${name}-${dice.pick(['a', 'b', 'c'])}-${addressType.toLowerCase()}`;
  const labels = kinds[name]!.bare === true ? { 'endpointslice.kubernetes.io/managed-by': 'someone' } : labelsOf(name);
  const endpoints = Array.from({ length: dice.integer(0, 4) }, endpoint);
  const object = endpointSlice({ name: sliceName, namespace, service: name, addressType, endpoints });
  const collection = inNamespace(SLICES, namespace);
  return dice.integer(1, 4) === 1
    ? { cluster, collection, name: sliceName, object: null }
    : {
        cluster,
        collection,
        name: sliceName,
        object: { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } },
      };
}

/** Sources that stay, with their ready address; beside them, slices come and go. */
export const stays = names.flatMap((cluster) => [
  ...(cluster === 'c1'
    ? []
    : [{ cluster, name: 'stays', labels: { mirror: 'true' }, makes: `${cluster}-shop-73736d-stays` }]),
  ...(cluster === 'c1'
    ? []
    : [{ cluster, name: 'stays-too', labels: { global: 'true' }, makes: 'gl-shop-73736d-stays-too' }]),
  {
    cluster,
    name: 'stays-ranked',
    labels: { global: 'true' },
    annotations: stayingOrder,
    makes: 'gl-shop-73736d-stays-ranked',
  },
]);
export const addressOf = (cluster: string): string => `${ranges[cluster]?.[0] ?? '10.1.'}0.1`;

export const staying: readonly Change[] = [
  ...stayingExports((cluster) => addressOf(cluster)),
  ...stays.flatMap(({ cluster, name, labels, annotations }): Change[] => [
    {
      cluster,
      collection: inNamespace(SERVICES, 'shop'),
      name,
      object: service({ name, namespace: 'shop', labels, ...(annotations && { annotations }) }),
    },
    {
      cluster,
      collection: inNamespace(SLICES, 'shop'),
      name: `${name}-0`,
      object: endpointSlice({
        name: `${name}-0`,
        namespace: 'shop',
        service: name,
        labels,
        // One cluster has enough for its level.
        endpoints: [addressOf(cluster), ...(cluster === 'c1' ? ['10.1.0.2'] : [])],
      }),
    },
  ]),
  // What the file may exclude, by its namespace.
  ...allRemotes.map((cluster): Change => ({
    cluster,
    collection: inNamespace(SERVICES, 'pay'),
    name: 'excluded',
    object: service({ name: 'excluded', namespace: 'pay', labels: { mirror: 'true', global: 'true' } }),
  })),
  // A source whose mirror would have the name of a foreign Service.
  {
    cluster: 'c2',
    collection: inNamespace(SERVICES, 'shop'),
    name: 'taken',
    object: service({ name: 'taken', namespace: 'shop', labels: { mirror: 'true' } }),
  },
  ...['foreign', 'c2-shop-73736d-taken'].flatMap((name): Change[] => [
    { cluster: 'c1', collection: LOCAL_SERVICES, name, object: service({ name, namespace: MIRRORS }) },
    {
      cluster: 'c1',
      collection: LOCAL_SLICES,
      name: `${name}-0`,
      object: endpointSlice({ name: `${name}-0`, namespace: MIRRORS, service: name, endpoints: ['192.0.2.1'] }),
    },
  ]),
];

/** What happens to one of them. */
export function changedSource(dice: Dice): Change {
  if (dice.integer(1, 10) === 1) return changedDrains(dice, MIRRORS);
  if (dice.integer(1, 5) < 3)
    return changedExport(dice, { namespaces: EXPORTED, subnet: (cluster) => ranges[cluster]?.[0] ?? '10.1.' });
  // Those with an order are often in several clusters.
  const name = dice.pick([...Object.keys(kinds), ...RANKED, ...RANKED]);
  const cluster = kinds[name]!.global ? dice.pick(names) : dice.pick(allRemotes);
  const place = { cluster, namespace: RANKED.includes(name) ? 'shop' : dice.pick(NAMESPACES), name };
  return dice.integer(1, 3) === 1 ? serviceChange(dice, place) : sliceChange(dice, place);
}
