import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '@kube-semaphore/kube-objects';
import { importKey, importNameLabel, managedByLabel, sliceManager } from '../../names.ts';
import { type ClusterDiagnostic, problemOf } from '../../endpoints/desired/diagnostic.ts';
import { hasMarks } from '../../endpoints/desired/diff/marks.ts';
import { diffService } from '../../endpoints/desired/diff/service.ts';
import { deletesBeside, partsOf, writesBeside } from '../../endpoints/desired/diff/slice-parts.ts';
import {
  diffSlices,
  type Owner,
  ownerOf,
  type SliceChange,
  type SlicePhases,
} from '../../endpoints/desired/diff/slices.ts';
import { familySpec } from '../../endpoints/desired/families.ts';
import { isFallback } from '../../endpoints/desired/routing/in-role.ts';
import { hasReady } from '../../endpoints/desired/objects.ts';
import type { Identity, ObservedSlice } from '../../endpoints/desired/observed.ts';
import { conditionChange } from './conditions.ts';
import { withAddresses } from './import.ts';
import type { DerivedService, DesiredImport, DesiredImportStatus, ImportObjects } from './objects.ts';
import type { ObservedDerived, ObservedImport } from './observed.ts';
import { isOfHeadless } from './slices.ts';

/** One write for a ServiceImport. Slices of a headless one belong to the import, others to the derived Service. */
export type ImportChange =
  | SliceChange
  | { readonly kind: 'create-derived'; readonly to: DerivedService }
  | { readonly kind: 'update-derived'; readonly from: ObservedDerived; readonly to: DerivedService }
  | { readonly kind: 'delete-derived'; readonly from: ObservedDerived }
  | { readonly kind: 'create-import'; readonly to: DesiredImport }
  | { readonly kind: 'update-import'; readonly from: ObservedImport; readonly to: DesiredImport }
  | { readonly kind: 'delete-import'; readonly from: ObservedImport }
  | { readonly kind: 'update-import-status'; readonly from: ObservedImport; readonly to: ImportStatus };

/** A change of an import's objects, or of the conditions of an export of the local cluster. */
export type McsChange =
  | ImportChange
  | { readonly kind: 'update-export-status'; readonly from: Identity; readonly conditions: readonly Condition[] };

/** A change, with the namespace of its object. */
export type PlacedChange = { readonly namespace: string; readonly change: McsChange };

/** `status` of a ServiceImport, complete. */
type ImportStatus = Pick<DesiredImportStatus, 'clusters' | 'sliceObjects'> & {
  readonly conditions: readonly Condition[];
};

/** The local objects of one ServiceImport. */
export type ObservedObjects = {
  readonly serviceImport: ObservedImport | undefined;
  readonly service: ObservedDerived | undefined;
  /** Ours, of the import. */
  readonly slices: readonly ObservedSlice[];
};

/**
 * The next writes for a ServiceImport, which may be made at once. Those after them depend on their answers: the
 * import has the addresses that its Service gets, slices the UID of their owner. Clients find an import by its name, so it is
 * written when the traffic behind it flows, and it is the first to be deleted.
 *
 * @param at RFC 3339, for conditions whose status changes
 * @param waits whether a change can't be made now: then what doesn't need it goes on, most of all what a cluster withdraws
 * @returns empty if everything is as it should be, or waits
 */
export function nextChanges(
  observed: ObservedObjects,
  wanted: 'nothing' | ImportObjects,
  at: string,
  waits: Waits = () => false,
): readonly ImportChange[] {
  const waitsLonger: Waits = (change) => isDeleted(change) || waits(change);
  for (const phase of wanted === 'nothing' ? removal(observed) : phases(observed, wanted, { at, waits: waitsLonger })) {
    const due = phase.filter((change) => !waitsLonger(change));
    if (due.length > 0) return due;
  }
  return [];
}

/** Whether a change deletes an object that was deleted already, and exists until its finalizers are removed. */
const isDeleted = (change: ImportChange): boolean =>
  change.kind.startsWith('delete') && 'from' in change && 'isTerminating' in change.from && change.from.isTerminating;

/** The namespaces of a ServiceImport, and of its derived Service. */
export type ImportPlace = { readonly namespace: string; readonly derivedNamespace: string };

/** The namespace of the object that a change is of. */
export function namespaceOf(change: McsChange, { namespace, derivedNamespace }: ImportPlace): string {
  switch (change.kind) {
    case 'create-derived':
    case 'update-derived':
    case 'delete-derived':
      return derivedNamespace;
    case 'create-slice':
    case 'update-slice':
      return isOfHeadless(change.to) ? namespace : derivedNamespace;
    case 'delete-slice':
      return isOfHeadless(change.from) ? namespace : derivedNamespace;
    default:
      return namespace;
  }
}

/** Why the objects of a ServiceImport may not be changed; undefined if they may: they are ours, or don't exist. */
export function importTaken(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { serviceImport: present, service }: Pick<ObservedObjects, 'serviceImport' | 'service'>,
): ClusterDiagnostic | undefined {
  const taken = (detail: string): ClusterDiagnostic => problemOf(importKey(namespace, name), 'name-taken', detail);
  if (present !== undefined && !isOurs(present))
    return taken(`the ServiceImport ${namespace}/${name} exists, and isn't ours`);
  if (service === undefined || (isOurs(service) && service.labels[importNameLabel] === name)) return undefined;
  return taken(`the Service ${service.name} exists, and isn't that of this import`);
}

function* removal({ serviceImport: present, service, slices }: ObservedObjects): Generator<readonly ImportChange[]> {
  if (present !== undefined) yield [{ kind: 'delete-import', from: present }];
  yield [
    ...slices.map((from): ImportChange => ({ kind: 'delete-slice', from })),
    // Another Service could get its address, and clients of an import that still exists would call that.
    ...(service === undefined || present !== undefined ? [] : [{ kind: 'delete-derived', from: service } as const]),
  ];
}

type Waits = (change: ImportChange) => boolean;

function* phases(
  observed: ObservedObjects,
  wanted: ImportObjects,
  { at, waits }: { readonly at: string; readonly waits: Waits },
): Generator<readonly ImportChange[]> {
  const { serviceImport: present, service, slices } = observed;
  const isWaiting = (changes: readonly ImportChange[]): boolean => changes.some(waits);
  // The owner of slices: if it doesn't exist, none can be written.
  let owner: ObservedImport | ObservedDerived | undefined;
  let ports: DerivedService['definition']['ports'] | undefined;
  if (wanted.service !== undefined) {
    const change = derivedChange(service, wanted.service);
    // An address goes only if it really does: the import would get it back from its Service.
    const first = present && service && !isWaiting(change) ? withdrawn(present, service, wanted.service) : [];
    yield first;
    yield isWaiting(first) ? [] : change;
    owner = service;
    if (service !== undefined && isWaiting([...first, ...change])) ports = service.definition.ports;
  } else {
    yield importChange(present, wanted.serviceImport);
    owner = present;
  }
  const { writes, deletes } = diffSlices(slices, wanted.slices, owner === undefined ? NO_OWNER : ownerOf(owner));
  const allowed = ports === undefined ? writes : writesBeside(writes, ports);
  if (owner !== undefined) {
    yield allowed.filter(({ to }) => !isFallback(to));
    yield allowed;
  }
  if (service !== undefined && wanted.service !== undefined) {
    const { ips, definition } = service;
    yield importChange(present, withAddresses(wanted.serviceImport, { ips, families: definition.families }));
  }
  const mayWrite = new Set(owner === undefined ? [] : allowed);
  const isUnwritten = (change: (typeof writes)[number]): boolean => !mayWrite.has(change) || waits(change);
  yield [
    ...(present === undefined ? [] : statusChange(present, wanted.status, at)),
    ...withdrawnSlices(observed.slices, { writes, deletes, isUnwritten }),
    ...(wanted.service === undefined && service !== undefined
      ? [{ kind: 'delete-derived', from: service } as const]
      : []),
  ];
}

/** The slices to delete. Those of a cluster wait for its own writes, and for no other's. */
function withdrawnSlices(
  observed: readonly ObservedSlice[],
  {
    writes,
    deletes,
    isUnwritten,
  }: SlicePhases & { readonly isUnwritten: (change: SlicePhases['writes'][number]) => boolean },
): readonly ImportChange[] {
  const goes = new Set(deletes.map(({ from }) => from));
  const isLast = !observed.some((slice) => !goes.has(slice) && hasReady(slice));
  const parts = partsOf({ writes: writes.filter(isUnwritten), adopted: [], deletes });
  return parts.flatMap((part) => deletesBeside(part.deletes, part.writes, { isLast }));
}

/** Takes an address out of the import that its Service is about to lose. */
function withdrawn(from: ObservedImport, service: ObservedDerived, to: DerivedService): readonly ImportChange[] {
  const { ipFamilyPolicy } = familySpec(to.definition.families, service.definition.families);
  const { name, labels, annotations, spec } = from;
  if (ipFamilyPolicy === 'PreferDualStack' || spec.ips.length < 2) return [];
  const remaining = { ...spec, ips: service.ips.slice(0, 1), families: service.definition.families.slice(0, 1) };
  return [{ kind: 'update-import', from, to: { name, labels, annotations, spec: remaining } }];
}

function derivedChange(from: ObservedDerived | undefined, to: DerivedService): readonly ImportChange[] {
  if (from === undefined) return [{ kind: 'create-derived', to }];
  // `clusterIP` is immutable.
  if (from.definition.headless) return [{ kind: 'delete-derived', from }];
  const isSame = diffService(from, to) === undefined && from.internalTrafficPolicy === to.internalTrafficPolicy;
  return isSame ? [] : [{ kind: 'update-derived', from, to }];
}

function importChange(from: ObservedImport | undefined, to: DesiredImport): readonly ImportChange[] {
  if (from === undefined) return [{ kind: 'create-import', to }];
  const isSame = hasMarks(from, to) && isDeepStrictEqual(from.spec, to.spec);
  return isSame ? [] : [{ kind: 'update-import', from, to }];
}

function statusChange(from: ObservedImport, to: DesiredImportStatus, at: string): readonly ImportChange[] {
  const { clusters, sliceObjects } = to;
  const conditions = conditionChange(from.conditions, to.conditions, at);
  if (conditions === undefined && isDeepStrictEqual(from.clusters, clusters) && from.sliceObjects === sliceObjects)
    return [];
  return [
    { kind: 'update-import-status', from, to: { clusters, sliceObjects, conditions: conditions ?? from.conditions } },
  ];
}

/** What can't be written has no owner. */
const NO_OWNER: Owner = { name: '', uid: '' };

const isOurs = ({ labels }: Pick<ObservedImport, 'labels'>): boolean => labels[managedByLabel] === sliceManager;

/** The kind and the name of the object that a change writes, and its subresource. */
export function objectOf(change: McsChange, place: ImportPlace & { readonly name: string }): string {
  const named = (kind: string, name: string): string => `${kind} ${namespaceOf(change, place)}/${name}`;
  switch (change.kind) {
    case 'create-derived':
    case 'update-derived':
    case 'delete-derived':
      return named('Service', 'to' in change ? change.to.name : change.from.name);
    case 'create-slice':
    case 'update-slice':
    case 'delete-slice':
      return named('EndpointSlice', 'to' in change ? change.to.name : change.from.name);
    case 'update-export-status':
      return `${named('ServiceExport', place.name)} status`;
    default:
      return named('ServiceImport', place.name) + (change.kind === 'update-import-status' ? ' status' : '');
  }
}

/** The same change made at another time: a condition that changes gets the time of the write. */
export function withoutTimes(change: McsChange): McsChange {
  const timeless = (conditions: readonly Condition[]) =>
    conditions.map((condition) => ({ ...condition, lastTransitionTime: '' }));
  if (change.kind === 'update-export-status') return { ...change, conditions: timeless(change.conditions) };
  if (change.kind !== 'update-import-status') return change;
  return { ...change, to: { ...change.to, conditions: timeless(change.to.conditions) } };
}
