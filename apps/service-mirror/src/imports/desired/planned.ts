import { familySpec } from '../../endpoints/desired/families.ts';
import type { DesiredSlice } from '../../endpoints/desired/objects.ts';
import type { Identity, ObservedSlice } from '../../endpoints/desired/observed.ts';
import type { Family } from '../../endpoints/desired/source.ts';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import { marksOf } from '../../endpoints/desired/diff/marks.ts';
import { type ImportChange, type McsChange, nextChanges, type ObservedObjects } from './changes.ts';
import type { DerivedService, ImportObjects } from './objects.ts';
import type { ObservedDerived } from './observed.ts';

/** All writes for a ServiceImport, as if the API server made each as it is asked to. A new address is unknown. */
export function plannedChanges(
  observed: ObservedObjects,
  wanted: 'nothing' | ImportObjects,
  at: string,
): readonly ImportChange[] {
  const planned: ImportChange[] = [];
  let objects = observed;
  for (let next = nextChanges(objects, wanted, at); next.length > 0; next = nextChanges(objects, wanted, at)) {
    planned.push(...next);
    objects = next.reduce((before, change) => afterChange(before, change), objects);
  }
  return planned;
}

/** @param ips the addresses of a derived Service with these families */
type Addresses = (families: readonly Family[], from: ObservedDerived | undefined) => readonly string[];

const knownAddresses: Addresses = (families, from) => from?.ips.slice(0, families.length) ?? [];

/** The objects of a ServiceImport after a change, in a cluster that has all families of the derived Service. */
export function afterChange(
  objects: ObservedObjects,
  change: ImportChange,
  addresses: Addresses = knownAddresses,
): ObservedObjects {
  const { serviceImport, slices } = objects;
  switch (change.kind) {
    case 'create-derived':
    case 'update-derived':
      return { ...objects, service: derivedAfter(change.to, objects.service, addresses) };
    case 'delete-derived':
      return { ...objects, service: undefined };
    case 'create-import':
    case 'update-import': {
      const before = { ...NEW_IMPORT, ...identity(change.to.name), ...serviceImport };
      return { ...objects, serviceImport: { ...before, ...change.to, ...marksOf(serviceImport, change.to) } };
    }
    case 'delete-import':
      return { ...objects, serviceImport: undefined };
    case 'update-import-status':
      return { ...objects, serviceImport: { ...serviceImport!, ...change.to } };
    case 'create-slice':
    case 'update-slice': {
      const marks = marksOf('from' in change ? change.from : undefined, change.to);
      const written = {
        ...sliceAfter(change.to),
        ...marks,
        owners: change.owner === undefined ? [] : [change.owner.uid],
      };
      return { ...objects, slices: [...slices.filter(({ name }) => name !== written.name), written] };
    }
    case 'delete-slice':
      return { ...objects, slices: slices.filter(({ name }) => name !== change.from.name) };
  }
}

/** A slice as if it were just written, without an owner. */
export const sliceAfter = (slice: DesiredSlice): ObservedSlice => ({ ...slice, ...identity(slice.name), owners: [] });

function derivedAfter(to: DerivedService, from: ObservedDerived | undefined, addresses: Addresses): ObservedDerived {
  const { ipFamilyPolicy, ipFamilies } = familySpec(to.definition.families, from?.definition.families);
  const second = ipFamilies[0] === 'IPv4' ? 'IPv6' : 'IPv4';
  const families = ipFamilyPolicy === 'SingleStack' ? ipFamilies : [ipFamilies[0]!, second as Family];
  return {
    createdAt: 0,
    ...UNTOUCHED,
    ...(from ?? identity(to.name)),
    ...to,
    ...marksOf(from, to),
    definition: { ...to.definition, families },
    familyPolicy: ipFamilyPolicy,
    isPlain: true,
    ips: addresses(families, from),
  };
}

/** Of an object that isn't written yet. */
const identity = (name: string): Identity => ({ name, uid: newUid(name), resourceVersion: '' });

/** Whether a planned change needs an object that the plan creates. */
export const needsPlanned = (change: McsChange | Change): boolean =>
  ('from' in change && change.from.resourceVersion === '') ||
  ('owner' in change && change.owner !== undefined && ['', newUid(change.owner.name)].includes(change.owner.uid));

const newUid = (name: string): string => `new ${name}`;

const UNTOUCHED = { isTerminating: false, ownerReferences: [], finalizers: [] };

const NEW_IMPORT = { ...UNTOUCHED, clusters: [], conditions: [], sliceObjects: '' };
