import type { Graph, Place, Tunnel } from './graph.ts';

/** A graph whose nodes have ids that are safe in any format. Labels are not: foreign clusters choose them. */
export type Labelled = {
  readonly clusters: readonly {
    readonly id: string;
    readonly name: string;
    readonly nodes: readonly { readonly id: string; readonly label: string }[];
    /** `shop/checkout from c2, c3`, `import shop/cart from c2`. */
    readonly services: readonly string[];
  }[];
  /** @see Tunnel */
  readonly tunnels: readonly { readonly ends: readonly [string, string]; readonly tunnel: Tunnel }[];
};

export function labelled({ clusters, tunnels, services }: Graph): Labelled {
  const keyOf = ({ cluster, node }: Place): string => JSON.stringify([cluster, node]);
  const ids = new Map(
    clusters.flatMap(({ name, nodes }, i) =>
      nodes.map((node, j) => [keyOf({ cluster: name, node }), `c${i}n${j}`] as const),
    ),
  );
  const idOf = (place: Place): string => ids.get(keyOf(place))!;
  return {
    clusters: clusters.map(({ name, nodes }, i) => ({
      id: `c${i}`,
      name,
      nodes: nodes.map((node) => ({ id: idOf({ cluster: name, node }), label: node })),
      services: services.flatMap(({ cluster, kind, service, sources }) =>
        cluster === name ? [`${kind === 'import' ? 'import ' : ''}${service} from ${sources.join(', ')}`] : [],
      ),
    })),
    tunnels: tunnels.map((tunnel) => ({ ends: [idOf(tunnel.ends[0]), idOf(tunnel.ends[1])], tunnel })),
  };
}

/** By the age of the handshake: some minutes at most, older, or none. */
export const colours = { up: '#2e7d32', stale: '#ef6c00', never: '#c62828' } as const;

export const tunnelLabel = ({ state, handshakeAgeSeconds: age }: Tunnel): string =>
  age === null ? 'no handshake' : `${state}, handshake ${age} s ago`;
