import { sharedConditions } from '../compact.ts';
import { REMOTE_ZONE, type RoutingHints } from './routing-hints.ts';
import { type DesiredSlice, isReady } from '../objects.ts';
import type { Endpoint } from '../source.ts';
import { standbyAnnotation } from '../../../names.ts';
import type { Role } from './who-answers.ts';

/** kube-proxy uses such endpoints if no endpoint is ready. Other consumers don't use them, or drain them. */
const STANDBY = sharedConditions({ ready: false, serving: true, terminating: true });

/** What a standby was: it is used, and doesn't terminate. */
const READY = sharedConditions({ ready: true, serving: true, terminating: false });

/**
 * A slice whose endpoints have the conditions that their own cluster says, as kube-proxy needs it for a role. Only endpoints
 * that are ready have a role: one that isn't has the same hints in all of them, so that it causes no write.
 *
 * @param hints undefined: the endpoints keep theirs
 */
export function inRole(slice: DesiredSlice, role: Role, hints: RoutingHints | undefined): DesiredSlice {
  const isStandby = role === 'standby';
  const endpoints = slice.endpoints.map((endpoint): Endpoint => {
    const { local, remote } = hints ?? { local: endpoint.zones, remote: endpoint.zones };
    const zones = role === 'first' && isReady(endpoint) ? local : remote;
    return { ...endpoint, zones, conditions: isStandby ? standbyConditions(endpoint) : endpoint.conditions };
  });
  const isMarked = isStandby && slice.endpoints.some(isUsed);
  return {
    ...slice,
    endpoints,
    annotations: isMarked ? { ...slice.annotations, [standbyAnnotation]: 'true' } : slice.annotations,
  };
}

/**
 * Whether a slice has endpoints that are used only if those of others aren't: of the second level, or standbys. It is written after
 * those of the first level. Before that, kube-proxy would find no endpoint for its zone for a moment, and use all that are ready.
 */
export const isFallback = ({ annotations, endpoints }: Pick<DesiredSlice, 'annotations' | 'endpoints'>): boolean =>
  annotations[standbyAnnotation] !== undefined ||
  endpoints.some((endpoint) => isReady(endpoint) && endpoint.zones?.includes(REMOTE_ZONE) === true);

/**
 * A slice that `inRole` made, as it was: what is written here is all that is known of an unknown cluster. An endpoint that
 * was terminating already is taken for a ready one.
 */
export function withoutRole<S extends Pick<DesiredSlice, 'annotations' | 'endpoints'>>(slice: S): S {
  const { [standbyAnnotation]: mark, ...annotations } = slice.annotations;
  if (mark === undefined) return slice;
  const endpoints = slice.endpoints.map((endpoint): Endpoint => ({
    ...endpoint,
    conditions: sharedConditions(endpoint.conditions) === STANDBY ? READY : endpoint.conditions,
  }));
  return { ...slice, annotations, endpoints };
}

const isUsed = (endpoint: Endpoint): boolean => isReady(endpoint) && endpoint.conditions.serving !== false;

/** One that its own cluster says is not serving is never a standby, also if it is published as ready. */
export function standbyConditions(endpoint: Endpoint): Endpoint['conditions'] {
  if (isUsed(endpoint)) return STANDBY;
  return isReady(endpoint) ? sharedConditions({ ...endpoint.conditions, ready: false }) : endpoint.conditions;
}
