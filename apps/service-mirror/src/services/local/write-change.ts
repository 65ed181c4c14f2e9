import { isStatus, isTaken, type WriteOptions } from '@kube-semaphore/kube-client';
import type { EndpointSlice, Service } from '@kube-semaphore/kube-objects';
import { sliceManagedByLabel, sliceManager, sourceAnnotation } from '../../names.ts';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import type { LocalObjects } from './objects.ts';
import type { ObjectWriter } from './object-writer.ts';

export type WriteTargets = {
  readonly writer: Pick<
    ObjectWriter,
    'createService' | 'updateService' | 'readSlice' | 'createSlice' | 'updateSlice' | 'delete'
  >;
  readonly local: Pick<
    LocalObjects,
    'wroteService' | 'replacedService' | 'writeSlice' | 'deletedSlice' | 'deletedEndpoints' | 'recheck'
  >;
};

/** Makes one change, and updates the stores so that the next reconcile sees it. @returns a Service that was written */
export async function writeChange(
  change: Change,
  { writer, local }: WriteTargets,
  options: WriteOptions,
): Promise<Service | undefined> {
  switch (change.kind) {
    case 'create-service':
    case 'update-service': {
      const service =
        change.kind === 'create-service'
          ? await writer.createService(change.to, options)
          : await writer.updateService(change.from, change.to, options);
      local.wroteService(service);
      return service;
    }
    case 'create-slice':
      await local.writeSlice(change, () => createSlice(change, { writer, local }, options));
      return undefined;
    case 'update-slice':
      await local.writeSlice(change, () => writer.updateSlice(change.from, change.to, change.owner, options));
      return undefined;
  }
  await writer.delete(change, options);
  if (change.kind === 'replace-service') local.replacedService(change.from);
  if (change.kind === 'delete-slice') local.deletedSlice(change.from);
  if (change.kind === 'delete-endpoints') local.deletedEndpoints(change.from);
  return undefined;
}

/**
 * Creates a slice. One that exists but isn't known lost the label by which we find it, or a list missed it: it is updated.
 *
 * @throws KubeApiError AlreadyExists if a slice with this name isn't ours
 */
async function createSlice(
  { to, owner }: Extract<Change, { kind: 'create-slice' }>,
  { writer, local }: WriteTargets,
  options: WriteOptions,
): Promise<EndpointSlice> {
  try {
    return await writer.createSlice(to, owner, options);
  } catch (error) {
    if (!isTaken(error)) throw error;
    const from = await writer.readSlice(to.name, options).catch(unlessGone);
    // Another key may have deleted it in between as an orphan.
    if (from === 'gone') return writer.createSlice(to, owner, options);
    // A list missed it despite its label, so the list may also have missed slices that have to be deleted.
    if (from?.labels[sliceManagedByLabel] === sliceManager) local.recheck();
    if (from === undefined || from.annotations[sourceAnnotation] !== to.annotations[sourceAnnotation]) throw error;
    return writer.updateSlice(from, to, owner, options);
  }
}

function unlessGone(error: unknown): 'gone' {
  if (isStatus(error, 404)) return 'gone';
  throw error;
}

/** The log line of a change that was written. */
export function changeEvent(change: Change): {
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
} {
  const event = EVENTS[change.kind];
  const object = 'to' in change ? change.to : change.from;
  if (change.kind === 'delete-endpoints') return { event, facts: { endpoints: object.name } };
  const isSlice = 'endpoints' in object;
  return {
    event,
    facts: isSlice ? { slice: object.name, endpoints: object.endpoints.length } : { service: object.name },
  };
}

const EVENTS = {
  'create-service': 'service created',
  'update-service': 'service updated',
  'replace-service': 'service deleted, to be created again',
  'delete-service': 'service deleted',
  'create-slice': 'slice created',
  'update-slice': 'slice updated',
  'delete-slice': 'slice deleted',
  'delete-endpoints': 'endpoints of a Go program deleted',
} as const;
