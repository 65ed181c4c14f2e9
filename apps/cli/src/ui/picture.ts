import { tunnelStates } from '../clusters/app-status.ts';
import type { Graph, Place, Tunnel } from '../graph/graph.ts';

/** A line of the picture: a tunnel between two nodes, or all between two clusters. */
export type Line = {
  /** A place without a node is the whole cluster. */
  readonly ends: readonly [Place, Place];
  /** The worst. */
  readonly state: Tunnel['state'];
  /** The oldest; null before the first. */
  readonly handshakeAgeSeconds: number | null;
  readonly tunnels: number;
};

/** What is drawn of a mesh: bounded, whatever its size is. */
export type Picture = {
  readonly clusters: readonly {
    readonly name: string;
    /** Empty in a picture of clusters. */
    readonly nodes: readonly string[];
    readonly isTroubled: boolean;
  }[];
  readonly lines: readonly Line[];
  /** All tunnels, drawn or not. */
  readonly counts: Readonly<Record<Tunnel['state'], number>>;
  /** Lines that aren't drawn. */
  readonly hidden: number;
};

/** More lines can't be told apart. */
const MAX_LINES = 400;

/** Nodes as long as they and their tunnels are few; else whole clusters, and the worst tunnels between them. */
export function pictureOf(
  { clusters, tunnels }: Pick<Graph, 'clusters' | 'tunnels'>,
  troubled: ReadonlySet<string>,
): Picture {
  const nodes = clusters.reduce((sum, cluster) => sum + cluster.nodes.length, 0);
  const hasNodes = nodes <= MAX_LINES && tunnels.length <= MAX_LINES;
  const lines = hasNodes ? tunnels.map((tunnel) => ({ ...tunnel, tunnels: 1 })) : betweenClusters(tunnels);
  const count = (of: Tunnel['state']): number => tunnels.filter(({ state }) => state === of).length;
  const worstFirst = lines.toSorted((a, b) => tunnelStates.indexOf(a.state) - tunnelStates.indexOf(b.state));
  return {
    clusters: clusters.map(({ name, nodes: own }) => ({
      name,
      nodes: hasNodes ? own : [],
      isTroubled: troubled.has(name),
    })),
    lines: worstFirst.slice(0, MAX_LINES),
    counts: { up: count('up'), stale: count('stale'), never: count('never') },
    hidden: Math.max(0, lines.length - MAX_LINES),
  };
}

function betweenClusters(tunnels: readonly Tunnel[]): readonly Line[] {
  const groups = Map.groupBy(tunnels, ({ ends: [a, b] }) => JSON.stringify([a.cluster, b.cluster]));
  return [...groups.values()].map((group) => {
    const [a, b] = group[0]!.ends;
    const ages = group.map(({ handshakeAgeSeconds }) => handshakeAgeSeconds);
    return {
      ends: [
        { cluster: a.cluster, node: '' },
        { cluster: b.cluster, node: '' },
      ],
      state: tunnelStates.find((state) => group.some((tunnel) => tunnel.state === state))!,
      handshakeAgeSeconds: ages.reduce((oldest, age) =>
        oldest === null || age === null ? null : Math.max(oldest, age),
      ),
      tunnels: group.length,
    };
  });
}
