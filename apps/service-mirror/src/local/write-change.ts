import { KubeApiError, type WriteOptions } from '@kube-semaphore/kube-client';
import type { EndpointSlice, Service } from '@kube-semaphore/kube-objects';
import { sliceManagedByLabel, sliceManager, sourceAnnotation } from '../names.ts';
import type { Change } from '../desired/change.ts';
import type { LocalObjects } from './objects.ts';
import type { ObjectWriter } from './object-writer.ts';

export type WriteTargets = {
  readonly writer: Pick<
    ObjectWriter,
    | 'createService'
    | 'updateService'
    | 'deleteService'
    | 'readSlice'
    | 'createSlice'
    | 'updateSlice'
    | 'deleteSlice'
    | 'deleteEndpoints'
  >;
  readonly local: Pick<LocalObjects, 'wroteService' | 'wroteSlice' | 'deletedSlice' | 'deletedEndpoints' | 'recheck'>;
};

/** Carries out one change, and tells the stores, so that the next look doesn't find it missing. @returns a Service that was written */
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
    case 'replace-service':
    case 'delete-service':
      await writer.deleteService(change.from, { ...options, orphan: change.kind === 'replace-service' });
      return undefined;
    case 'create-slice':
      local.wroteSlice(await createSlice(change, { writer, local }, options));
      return undefined;
    case 'update-slice':
      local.wroteSlice(await writer.updateSlice(change.from, change.to, change.owner, options));
      return undefined;
    case 'delete-slice':
      await writer.deleteSlice(change.from, options);
      local.deletedSlice(change.from);
      return undefined;
    case 'delete-endpoints':
      await writer.deleteEndpoints(change.from, options);
      local.deletedEndpoints(change.from);
      return undefined;
  }
}

/**
 * Somebody may have taken the labels off a slice, by which we find it, or a list lacked it: then it is there, and put right.
 *
 * @throws KubeApiError AlreadyExists when there is one of that name that isn't ours
 */
async function createSlice(
  { to, owner }: Extract<Change, { kind: 'create-slice' }>,
  { writer, local }: WriteTargets,
  options: WriteOptions,
): Promise<EndpointSlice> {
  try {
    return await writer.createSlice(to, owner, options);
  } catch (error) {
    if (!(error instanceof KubeApiError && error.reason === 'AlreadyExists')) throw error;
    const from = await writer.readSlice(to.name, options).catch(unlessGone);
    // It went in between: a neighbour's key may have taken it for a stray.
    if (from === 'gone') return writer.createSlice(to, owner, options);
    // With its labels it should have been known, and others may not be that are to go: no write would ever meet those.
    if (from?.labels[sliceManagedByLabel] === sliceManager) local.recheck();
    if (from === undefined || from.annotations[sourceAnnotation] !== to.annotations[sourceAnnotation]) throw error;
    return writer.updateSlice(from, to, owner, options);
  }
}

function unlessGone(error: unknown): 'gone' {
  if (error instanceof KubeApiError && error.status === 404) return 'gone';
  throw error;
}

/** What the log says of a change that was written. */
export function changeEvent(change: Change): {
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
} {
  switch (change.kind) {
    case 'create-service':
    case 'update-service':
    case 'replace-service':
      return { event: EVENTS[change.kind], facts: { service: change.to.name } };
    case 'delete-service':
      return { event: EVENTS[change.kind], facts: { service: change.from.name } };
    case 'create-slice':
    case 'update-slice':
      return { event: EVENTS[change.kind], facts: { slice: change.to.name, endpoints: change.to.endpoints.length } };
    case 'delete-slice':
      return {
        event: EVENTS[change.kind],
        facts: { slice: change.from.name, endpoints: change.from.endpoints.length },
      };
    case 'delete-endpoints':
      return { event: EVENTS[change.kind], facts: { endpoints: change.from.name } };
  }
}

const EVENTS = {
  'create-service': 'service created',
  'update-service': 'service updated',
  'replace-service': 'service deleted, to be created anew',
  'delete-service': 'service deleted',
  'create-slice': 'slice created',
  'update-slice': 'slice updated',
  'delete-slice': 'slice deleted',
  'delete-endpoints': 'endpoints of a Go program deleted',
} as const;
