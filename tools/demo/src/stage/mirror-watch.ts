import type { KubeObject, PolicyRule, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { Latest, type Watched } from './latest.ts';
import { openWatch, type WatchOptions } from './open-watch.ts';

/** Where the mirrors of other clusters' Services are, and the global Services. */
export const mirrorNamespace = 'sys-semaphore';

/** The rights that a watch of them needs. */
export const watchMirrorsRules: PolicyRule[] = [
  { apiGroups: [''], resources: ['services'], verbs: ['list', 'watch'] },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
];

/** What matters of an EndpointSlice: its addresses, by whether they are ready. */
export type MirrorSlice = {
  readonly name: string;
  readonly family: 'IPv4' | 'IPv6';
  readonly ready: readonly string[];
  readonly notReady: readonly string[];
};

/** A mirror or a global Service with its EndpointSlices, whatever of them there is. */
export type Mirror = { readonly service: KubeObject | undefined; readonly slices: readonly MirrorSlice[] };

/** Where both are in the API. */
const paths = {
  services: `/api/v1/namespaces/${mirrorNamespace}/services`,
  slices: `/apis/discovery.k8s.io/v1/namespaces/${mirrorNamespace}/endpointslices`,
};

/** The mirrors and global Services of a cluster, by name. Resolves when the watches stand, and tells if one of them ends. */
export async function watchMirrors(
  server: TestCluster,
  audience: Pick<WatchOptions, 'token' | 'onEnd'>,
): Promise<Watched<Mirror>> {
  const mirrors = new Latest<Mirror>();
  const put = (name: string, change: Partial<Mirror>) => {
    const mirror = { ...(mirrors.get(name) ?? { service: undefined, slices: [] }), ...change };
    mirrors.set(name, mirror.service === undefined && mirror.slices.length === 0 ? undefined : mirror);
  };
  const onService = (service: KubeObject, isGone: boolean) =>
    put(service.metadata.name, { service: isGone ? undefined : service });
  const onSlice = ({ metadata, ...rest }: KubeObject, isGone: boolean) => {
    const owner = metadata.labels?.['kubernetes.io/service-name'] ?? '';
    const others = mirrors.get(owner)?.slices.filter(({ name }) => name !== metadata.name) ?? [];
    put(owner, { slices: isGone ? others : [...others, sliceOf(metadata.name, rest)].toSorted(byName) });
  };
  await Promise.all([
    openWatch(server, { ...audience, path: paths.services, onObject: onService }),
    openWatch(server, { ...audience, path: paths.slices, onObject: onSlice }),
  ]);
  return mirrors;
}

/** The ready addresses of one family, or of both. */
export function readyAddresses(mirror: Mirror | undefined, family?: MirrorSlice['family']): readonly string[] {
  const slices = mirror?.slices.filter((slice) => family === undefined || slice.family === family) ?? [];
  return slices.flatMap(({ ready }) => ready);
}

/** The addresses of both families that are not ready. */
export function notReadyAddresses(mirror: Mirror | undefined): readonly string[] {
  return mirror?.slices.flatMap(({ notReady }) => notReady) ?? [];
}

function sliceOf(name: string, rest: Readonly<Record<string, unknown>>): MirrorSlice {
  const { addressType, endpoints } = rest as {
    readonly addressType: MirrorSlice['family'];
    readonly endpoints: readonly { readonly addresses: readonly string[]; readonly conditions: { readonly ready?: boolean } }[] | null;
  };
  // Consumers take an unknown `ready` for true.
  const addressesOf = (isReady: boolean) =>
    (endpoints ?? []).filter(({ conditions }) => (conditions.ready !== false) === isReady).flatMap(({ addresses }) => addresses);
  return { name, family: addressType, ready: addressesOf(true), notReady: addressesOf(false) };
}

const byName = (a: MirrorSlice, b: MirrorSlice): number => (a.name < b.name ? -1 : Number(a.name > b.name));
