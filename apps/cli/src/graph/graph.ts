import type { Service, ServiceImport } from '@kube-semaphore/kube-objects';
import { globalClustersAnnotation, parseServiceKey, sourceAnnotation } from '@kube-semaphore/service-mirror/names';
import { type PeerStatus, peersOf, tunnelStates } from '../clusters/app-status.ts';
import { type ClusterReport, ownNames } from '../clusters/report.ts';

/** A node of a cluster; of a peer without a Node, its key. */
export type Place = { readonly cluster: string; readonly node: string };

export type Tunnel = {
  readonly ends: readonly [Place, Place];
  /** The worse one of what both sides say. */
  readonly state: PeerStatus['state'];
  /** The older one; null before the first handshake. */
  readonly handshakeAgeSeconds: number | null;
};

/** A Service or a ServiceImport in `cluster` for `service`, as `namespace/name`, of `sources`. */
export type Mirrored = {
  readonly cluster: string;
  readonly kind: 'mirror' | 'global' | 'import';
  readonly service: string;
  readonly sources: readonly string[];
};

/** A mesh, sorted throughout. */
export type Graph = {
  readonly clusters: readonly { readonly name: string; readonly nodes: readonly string[] }[];
  readonly tunnels: readonly Tunnel[];
  readonly services: readonly Mirrored[];
};

export type ReadCluster = {
  readonly report: ClusterReport;
  readonly services: readonly Service[];
  readonly imports: readonly ServiceImport[];
};

/** The mesh, as the agents and the mirrors of some clusters show it. Other clusters are in it as far as these name them. */
export function graphOf(clusters: readonly ReadCluster[]): Graph {
  const seen = clusters.flatMap(({ report }) => tunnelsIn(report));
  const services = clusters.flatMap(mirroredIn);
  const agents = clusters.flatMap(({ report }) => placesIn(report));
  const places = [...agents, ...seen.flatMap(({ ends }) => ends)];
  const names = [
    ...clusters.flatMap(({ report }) => [nameOf(report), ...remotesIn(report)]),
    ...places.map(({ cluster }) => cluster),
    ...services.flatMap(({ sources }) => sources),
  ];
  return {
    clusters: unique(names).map((name) => ({
      name,
      nodes: unique(places.flatMap(({ cluster, node }) => (cluster === name ? [node] : []))),
    })),
    tunnels: [...Map.groupBy(seen, ({ ends }) => JSON.stringify(ends)).values()].map(merged).toSorted(byKey),
    services: services.toSorted(byKey),
  };
}

/** How a cluster calls itself, else its context. */
export const nameOf = (report: ClusterReport): string => ownNames(report)[0] ?? report.cluster;

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)].toSorted();

const byKey = (a: object, b: object): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);

const remotesIn = ({ pods }: ClusterReport): readonly string[] =>
  pods.flatMap(({ status }) => ('failure' in status ? [] : status.remotes.map(({ name }) => name)));

const placesIn = (report: ClusterReport): readonly Place[] =>
  report.pods.flatMap(({ app, node }) => (app === 'semaphore-wireguard' ? [{ cluster: nameOf(report), node }] : []));

function tunnelsIn(report: ClusterReport): readonly Tunnel[] {
  return report.pods.flatMap(({ node, status }) => {
    if ('failure' in status) return [];
    const here = { cluster: nameOf(report), node };
    return status.remotes.flatMap((remote) =>
      (peersOf(remote) ?? []).map(({ node: there, publicKey, state, handshakeAgeSeconds = null }) => {
        const [one, other] = [here, { cluster: remote.name, node: there ?? publicKey }].toSorted(byKey);
        return { ends: [one!, other!] as const, state, handshakeAgeSeconds };
      }),
    );
  });
}

function merged(sides: readonly Tunnel[]): Tunnel {
  const [worst] = sides.toSorted(
    (a, b) =>
      tunnelStates.indexOf(a.state) - tunnelStates.indexOf(b.state) ||
      (b.handshakeAgeSeconds ?? 0) - (a.handshakeAgeSeconds ?? 0),
  );
  return worst!;
}

const mirroredIn = ({ report, services, imports }: ReadCluster): readonly Mirrored[] => [
  ...services.flatMap((service) => mirroredBy(report, service) ?? []),
  ...imports.map((each) => importedBy(report, each)),
];

/** What a mirror or a global Service of a cluster stands for; undefined if it doesn't say so. */
export function mirroredBy(report: ClusterReport, { metadata: { annotations } }: Service): Mirrored | undefined {
  const key = parseServiceKey(annotations[sourceAnnotation] ?? '');
  if (key === undefined) return undefined;
  const sources =
    key.kind === 'mirror' ? [key.cluster] : (annotations[globalClustersAnnotation]?.split(',') ?? []).toSorted();
  return { cluster: nameOf(report), kind: key.kind, service: `${key.namespace}/${key.name}`, sources };
}

/** What a ServiceImport of a cluster stands for. */
export const importedBy = (report: ClusterReport, { metadata, status }: ServiceImport): Mirrored => ({
  cluster: nameOf(report),
  kind: 'import',
  service: `${metadata.namespace}/${metadata.name}`,
  sources: status.clusters.map(({ cluster }) => cluster).toSorted(),
});
