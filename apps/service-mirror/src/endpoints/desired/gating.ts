import { memoize } from '@kube-semaphore/memoize';
import { hasReady } from './objects.ts';
import { standbyConditions } from './routing/in-role.ts';
import type { SourceSlice } from './source.ts';
import type { ServiceView } from './target.ts';

/**
 * The slices of one Service of a remote, with the endpoints on silent Nodes used last: as those of a standby.
 *
 * @param keepsLast if no other endpoint is ready, all stay as they are: DNS has ready ones only
 */
export const gatedSlices = memoize(
  (slices: readonly SourceSlice[], silent: ReadonlySet<string>, keepsLast: boolean): readonly SourceSlice[] => {
    const gated = slices.map((slice) => gatedSlice(slice, silent));
    return keepsLast && !gated.some(hasReady) ? slices : gated;
  },
);

/** The same slice if it has no endpoint on a silent Node. */
const gatedSlice = memoize((slice: SourceSlice, silent: ReadonlySet<string>): SourceSlice => {
  const { nodes } = slice;
  if (nodes === undefined || !nodes.some((node) => silent.has(node))) return slice;
  const endpoints = slice.endpoints.map((endpoint, i) =>
    silent.has(nodes[i] ?? '') ? { ...endpoint, conditions: standbyConditions(endpoint) } : endpoint,
  );
  return { ...slice, endpoints };
});

/** What is known of a Service of a remote, with gated slices. A mirror has no other cluster, so it keeps its last endpoints. */
export const gatedView = memoize((view: ServiceView, silent: ReadonlySet<string>, isMirror: boolean): ServiceView => ({
  ...view,
  slices: gatedSlices(view.slices, silent, isMirror || view.service?.definition.headless === true),
}));
