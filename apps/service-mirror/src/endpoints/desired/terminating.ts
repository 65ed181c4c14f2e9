import { compareText } from '@kube-semaphore/naming';
import { quoted } from '@kube-semaphore/text';
import { headlessLabel } from '../../names.ts';
import { type ClusterDiagnostic, problemOf } from './diagnostic.ts';
import type { DesiredObjects, DesiredSlice } from './objects.ts';
import type { ObservedService, ObservedSlice } from './observed.ts';

type Terminating = Pick<ObservedService, 'isTerminating' | 'finalizers'>;

/** The garbage collector releases the slices of an object that has this finalizer, and then removes it. */
export const ORPHAN = 'orphan';

/** The finalizers of Kubernetes' garbage collector, which needs a moment. */
const OF_COLLECTOR: readonly string[] = [ORPHAN, 'foregroundDeletion'];

/** An object may have as many finalizers as fit in a megabyte. */
const MOST_NAMED = 5;

/**
 * Why an object that was deleted still exists. Only the controllers of its finalizers can end that.
 *
 * @param object its kind and its name
 */
export function terminating(
  key: string,
  object: string,
  { isTerminating, finalizers }: Terminating,
): readonly ClusterDiagnostic[] {
  if (!isTerminating) return [];
  const named = finalizers.toSorted(compareText).slice(0, MOST_NAMED).map(quoted);
  const more = finalizers.length - named.length;
  const list = [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
  const detail = `the ${object} was deleted, and exists until its finalizers are removed: ${list}`;
  const kind = finalizers.every((each) => OF_COLLECTOR.includes(each)) ? 'expected' : 'problem';
  return [{ ...problemOf(key, 'terminating', detail), kind }];
}

/**
 * The objects that a Service can have while it is being deleted. It can be updated, but whether it is headless can't change, and
 * kube-proxy and CoreDNS would skip slices of the other form.
 */
export function inFormOf({ definition }: Pick<ObservedService, 'definition'>, wanted: DesiredObjects): DesiredObjects {
  const { headless, families } = definition;
  const { service, slices } = wanted;
  if (service.definition.headless === headless) return wanted;
  return {
    service: { ...service, definition: { ...service.definition, headless, families } },
    slices: slices.flatMap((slice) => (headless ? headlessSlice(slice) : slicesWithNumbers(slice))),
  };
}

const headlessSlice = (slice: DesiredSlice): DesiredSlice => ({
  ...slice,
  labels: { ...slice.labels, [headlessLabel]: '' },
});

/** As in `localSlices`: only a headless Service may have ports without a number. */
function slicesWithNumbers(slice: DesiredSlice): readonly DesiredSlice[] {
  const { [headlessLabel]: _, ...labels } = slice.labels;
  const ports = slice.ports.filter(({ port }) => port !== undefined);
  return ports.length === 0 && slice.ports.length > 0 ? [] : [{ ...slice, labels, ports }];
}

/** The slices of a Service as they will be in a moment, so that we don't do what the garbage collector does already. */
export const released = (
  service: Terminating | undefined,
  slices: readonly ObservedSlice[],
): readonly ObservedSlice[] =>
  service?.isTerminating === true && service.finalizers.includes(ORPHAN)
    ? slices.map((slice) => ({ ...slice, owners: [] }))
    : slices;
