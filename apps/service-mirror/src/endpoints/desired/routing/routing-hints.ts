import { topologyHintsAnnotation, topologyModeAnnotation } from '../../../names.ts';

/** The zone in hints of other clusters' endpoints. No node is in it. */
export const REMOTE_ZONE = 'remote';

/** The zone in hints of local endpoints while the nodes' zones are unknown, as in the Go programs. */
const UNKNOWN_ZONE = 'local';

/** The most hints that kube-apiserver accepts on one endpoint. */
export const MAX_ZONES = 8;

export type Routing = {
  /** Whether the Service asks for local-first routing. */
  readonly localFirst: boolean;
  /** Which Services have hints: those that ask for local-first routing, or all. */
  readonly hints: 'labelled' | 'always';
  /** Of the local cluster's nodes, in any order; empty if unknown. */
  readonly zones: readonly string[];
};

/** The zones in the hints of local and remote endpoints, sorted. */
export type RoutingHints = { readonly local: readonly string[]; readonly remote: readonly string[] };

/**
 * The hints of a global Service's endpoints; undefined for no hints. kube-proxy uses hints only if every ready endpoint
 * has some, and one of them is for the node's own zone: then the node uses the local endpoints. Otherwise, and beyond the
 * eighth zone, it uses all endpoints.
 */
export function routingHints({ localFirst, hints, zones }: Routing): RoutingHints | undefined {
  if (hints === 'labelled' && !localFirst) return undefined;
  const local = [...new Set(zones)]
    .filter((zone) => zone !== '' && zone !== REMOTE_ZONE)
    .toSorted()
    .slice(0, MAX_ZONES);
  return { local: local.length === 0 ? [UNKNOWN_ZONE] : local, remote: [REMOTE_ZONE] };
}

/** Make kube-proxy 1.27 to 1.30 use the hints; later versions always do. */
export const localFirstAnnotations: Readonly<Record<string, string>> = {
  [topologyHintsAnnotation]: 'auto',
  [topologyModeAnnotation]: 'auto',
};
