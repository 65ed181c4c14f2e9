import { topologyHintsAnnotation, topologyModeAnnotation } from '../../names.ts';

/** The zone that endpoints of other clusters are hinted to, where no node is. */
export const REMOTE_ZONE = 'remote';

/** Where endpoints of the local cluster are hinted to while nobody knows the zones of its nodes; Go programs do so. */
const UNKNOWN_ZONE = 'local';

/** kube-apiserver takes no more hints on one endpoint. */
export const MAX_ZONES = 8;

export type Routing = {
  /** Whether the Service asks for local-first routing. */
  readonly localFirst: boolean;
  /** Which Services have hints: those that ask, or all. */
  readonly hints: 'labelled' | 'always';
  /** Of the local cluster's nodes, in any order; empty: nobody knows. */
  readonly zones: readonly string[];
};

/** The zones that endpoints are hinted to, sorted, by where they are; for all endpoints of a Service or, undefined, for none. */
export type RoutingHints = { readonly local: readonly string[]; readonly remote: readonly string[] };

/**
 * The hints of a global Service's endpoints. kube-proxy heeds them only if every ready endpoint has some and one of them
 * is for the node's own zone: then the node uses the local endpoints, and else all. A node beyond the eighth zone uses all.
 */
export function routingHints({ localFirst, hints, zones }: Routing): RoutingHints | undefined {
  if (hints === 'labelled' && !localFirst) return undefined;
  const local = [...new Set(zones)]
    .filter((zone) => zone !== '' && zone !== REMOTE_ZONE)
    .toSorted()
    .slice(0, MAX_ZONES);
  return { local: local.length === 0 ? [UNKNOWN_ZONE] : local, remote: [REMOTE_ZONE] };
}

/** What makes kube-proxy 1.27 to 1.30 heed the hints; later ones always do. */
export const localFirstAnnotations: Readonly<Record<string, string>> = {
  [topologyHintsAnnotation]: 'auto',
  [topologyModeAnnotation]: 'auto',
};
