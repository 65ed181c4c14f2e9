import type { Endpoint } from '../../src/endpoints/desired/source.ts';

/**
 * The endpoints of one Service port that kube-proxy uses on a node: `CategorizeEndpoints` and `topologyModeFromHints` of
 * pkg/proxy/topology.go in Kubernetes 1.33 to 1.37, for a Service without `internalTrafficPolicy: Local`. Earlier ones do the
 * same if the Service has the annotation for hints.
 *
 * @param zone of the node; undefined: it has none
 */
export function usedByKubeProxy(endpoints: readonly Endpoint[], zone: string | undefined): readonly Endpoint[] {
  const ready = endpoints.filter(({ conditions }) => conditions.ready !== false);
  const isHere = ({ zones = [] }: Endpoint): boolean => zone !== undefined && zones.includes(zone);
  const usesHints = ready.every(({ zones = [] }) => zones.length > 0) && ready.some(isHere);
  const used = usesHints ? ready.filter(isHere) : ready;
  if (used.length > 0) return used;
  return endpoints.filter(({ conditions }) => conditions.serving !== false && conditions.terminating === true);
}
