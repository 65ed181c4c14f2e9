import { type Cidr, contains, familyName, overlaps, parseIp } from '@kube-semaphore/net';
import { type FamiliesBetween, inFamilies } from './families.ts';
import type { Cluster } from './findings.ts';
import type { KnownRemote } from '../files/kustomize.ts';

/** A range, and whose it is. */
type Range = { readonly cidr: Cidr; readonly owner: string; readonly what: 'Pods' | 'Services' | 'nodes' };

/**
 * Why clusters can't be linked: a sentence for each reason.
 *
 * @param known remotes that the folder already has for a cluster, by its name
 */
export function conflictsOf(
  clusters: readonly Cluster[],
  {
    known,
    families,
    sharedServiceCidrs,
  }: {
    readonly known: ReadonlyMap<string, readonly KnownRemote[]>;
    readonly families: FamiliesBetween;
    /** Service ranges may overlap: no packet to a ClusterIP leaves its cluster. */
    readonly sharedServiceCidrs: boolean;
  },
): readonly string[] {
  const remotes = new Map([...known.values()].flat().map((remote) => [remote.name, remote]));
  for (const { name } of clusters) remotes.delete(name);
  const names = [...clusters.map(({ name }) => name), ...remotes.keys()];
  const ranges = [
    ...clusters.flatMap(({ name, podCidrs, serviceCidrs }): Range[] => [
      ...podCidrs.map((cidr) => ({ cidr, owner: name, what: 'Pods' as const })),
      ...serviceCidrs.map((cidr) => ({ cidr, owner: name, what: 'Services' as const })),
    ]),
    ...[...remotes.values()].flatMap(({ name, podCidrs }) =>
      podCidrs.map((cidr): Range => ({ cidr, owner: name, what: 'Pods' })),
    ),
  ];
  const places = [
    ...clusters.map((cluster) => withServer(cluster, cluster.server)),
    ...[...remotes.values()].map(({ server, ...remote }) =>
      withServer({ ...remote, nodeIps: [], apiServerIps: [] }, server),
    ),
  ];
  const isUsed: IsUsed = (by, { cidr, owner }) => by === owner || inFamilies([cidr], families(by, owner)).length > 0;
  return [
    ...pairsOf(clusters).flatMap(([a, b]) => sameCluster(a, b)),
    ...pairsOf(clusters).flatMap(([a, b]) => withoutFamily(a, b, families)),
    ...pairsOf(names).flatMap(([a, b]) => sameNames(a, b)),
    ...hosts(places, ranges),
    ...pairsOf(ranges).flatMap(([a, b]) => {
      if (!overlaps(a.cidr, b.cidr)) return [];
      // One cluster may have several pools, one in the other.
      if (a.owner === b.owner && a.what === b.what) return [];
      if (!clusters.some(({ name }) => isUsed(name, a) && isUsed(name, b))) return [];
      const areServices = a.what === 'Services' && b.what === 'Services';
      if (areServices && sharedServiceCidrs) return [];
      const advice = areServices ? ': mirrors work, and --shared-service-cidrs allows it' : otherFamily(a, b, ranges);
      return [`${sentence(a, b)}${advice}`];
    }),
    ...places.flatMap((each) =>
      nodesAmongPods(
        each,
        ranges.filter((range) => isUsed(each.name, range)),
      ),
    ),
  ];
}

/** Whether a cluster uses a range: its own ones, and those of others in the families of their link. */
type IsUsed = (by: string, range: Range) => boolean;

/** A link needs Pods of its families on both ends. */
const withoutFamily = (a: Cluster, b: Cluster, families: FamiliesBetween): readonly string[] =>
  families(a.name, b.name).length === 2
    ? []
    : [a, b].flatMap(({ name, podCidrs }) =>
        families(a.name, b.name)
          .filter((family) => inFamilies(podCidrs, [family]).length === 0)
          .map((family) => `${name} has no range of ${familyName(family)} for Pods: set other --families`),
      );

/** What to do if the Pods of both also have addresses of the other family. */
function otherFamily(a: Range, b: Range, ranges: readonly Range[]): string {
  const other = a.cidr.family === 4 ? 6 : 4;
  const hasOther = (owner: string): boolean =>
    ranges.some((range) => range.owner === owner && range.what === 'Pods' && range.cidr.family === other);
  return a.owner !== b.owner && hasOther(a.owner) && hasOther(b.owner)
    ? `: --families ${familyName(other)} links them without it`
    : '';
}

const sentence = (a: Range, b: Range): string =>
  `${a.owner} has ${a.cidr.text} for ${a.what}, which overlaps ${b.cidr.text} for ${b.what} of ${b.owner}`;

/** Where the nodes and API servers of a cluster are. */
type Places = Pick<Cluster, 'name' | 'nodeCidrs' | 'nodeIps' | 'apiServerIps'> & Partial<Pick<Cluster, 'context'>>;

/** Also the address where other clusters reach its API servers. */
function withServer(places: Places, server = ''): Places {
  const host = URL.canParse(server) ? new URL(server).hostname.replaceAll(/[[\]]/g, '') : '';
  const ip = parseIp(host);
  return ip.ok ? { ...places, apiServerIps: [...places.apiServerIps, ip.value] } : places;
}

/** No remote may announce the addresses of a cluster's nodes, so that cluster would refuse these Pods. */
function nodesAmongPods({ context, name, nodeCidrs, nodeIps }: Places, ranges: readonly Range[]): readonly string[] {
  const advice =
    context === undefined ? `link ${name}, too, and set --node-cidr for it` : `set --node-cidr ${context}=CIDR`;
  const pods = ranges.filter(({ owner, what }) => what === 'Pods' && owner !== name);
  return nodeCidrs.flatMap((cidr) =>
    pods
      // `hosts` says more of those with a node.
      .filter((pod) => overlaps(cidr, pod.cidr) && !nodeIps.some((ip) => contains(pod.cidr, ip)))
      .map((pod) => `${sentence({ cidr, owner: name, what: 'nodes' }, pod)}: ${advice}`),
  );
}

/** With the range of a remote's Pods around a node or an API server of another cluster, the remote could answer for it. */
function hosts(clusters: readonly Places[], ranges: readonly Range[]): readonly string[] {
  return ranges
    .filter(({ what }) => what === 'Pods')
    .flatMap(({ cidr, owner }) =>
      clusters.flatMap(({ name, nodeIps, apiServerIps }) => {
        const host = name === owner ? undefined : [...apiServerIps, ...nodeIps].find((ip) => contains(cidr, ip));
        if (host === undefined) return [];
        const what = apiServerIps.includes(host) ? 'an API server' : 'a node';
        return [`${owner} has ${cidr.text} for Pods, which has the address ${host} of ${what} of ${name}`];
      }),
    );
}

function sameCluster(a: Cluster, b: Cluster): readonly string[] {
  return a.uid === b.uid ? [`the contexts ${a.context} and ${b.context} are the same cluster: use one of them`] : [];
}

/** With `c2` and `c2-a`, a Service in the namespace `a-b` has the name of one in the namespace `b`. */
function sameNames(a: string, b: string): readonly string[] {
  const advice = 'set --cluster-name CONTEXT=NAME for one of them';
  if (a === b) return [`two clusters have the name ${a}: ${advice}`];
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return long.startsWith(`${short}-`)
    ? [`the name ${long} begins with ${short}-, so names of their mirrors can be equal: ${advice}`]
    : [];
}

const pairsOf = <T>(all: readonly T[]): readonly (readonly [T, T])[] =>
  all.flatMap((one, i) => all.slice(i + 1).map((other) => [one, other] as const));
