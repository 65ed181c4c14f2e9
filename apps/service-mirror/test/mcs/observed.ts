import type { ImportChange, ObservedObjects } from '../../src/desired/mcs/changes.ts';
import type { DerivedService, ImportObjects } from '../../src/desired/mcs/objects.ts';
import type { ObservedDerived, ObservedImport } from '../../src/desired/mcs/observed.ts';
import { familySpec } from '../../src/desired/families.ts';
import type { DesiredSlice } from '../../src/desired/objects.ts';
import type { ObservedSlice } from '../../src/desired/observed.ts';

/** What the API server has of a write, for tests of pure functions. */

const identity = (name: string) => ({ name, uid: `uid of ${name}`, resourceVersion: '1' });

const ADDRESSES = { IPv4: '10.0.0.1', IPv6: 'fd00::1' } as const;

const UNTOUCHED = { isTerminating: false, ownerReferences: [], finalizers: [] };

/** A ServiceImport as if everything desired were written. */
export const observedAs = ({ serviceImport: desired, status, service }: ImportObjects): ObservedImport => ({
  ...identity(desired.name),
  labels: desired.labels,
  annotations: desired.annotations,
  spec: {
    ...desired.spec,
    ips: service === undefined ? [] : service.definition.families.map((each) => ADDRESSES[each]),
  },
  clusters: status.clusters,
  conditions: status.conditions.map((each) => ({ ...each, observedGeneration: undefined, lastTransitionTime: 't' })),
  sliceObjects: status.sliceObjects,
  ...UNTOUCHED,
});

export const observedSliceAs = (slice: DesiredSlice): ObservedSlice => ({
  ...slice,
  ...identity(slice.name),
  owners: [],
});

function observedDerivedAs(to: DerivedService, from: ObservedDerived | undefined): ObservedDerived {
  const { ipFamilyPolicy, ipFamilies } = familySpec(to.definition.families, from?.definition.families);
  // A cluster with both families.
  const second = ipFamilies[0] === 'IPv4' ? 'IPv6' : 'IPv4';
  const families = ipFamilyPolicy === 'SingleStack' ? ipFamilies : [ipFamilies[0]!, second as 'IPv4' | 'IPv6'];
  return {
    ...identity(to.name),
    createdAt: 0,
    labels: to.labels,
    annotations: to.annotations,
    definition: { ...to.definition, families },
    familyPolicy: ipFamilyPolicy,
    isPlain: true,
    isTerminating: false,
    ownerReferences: [],
    finalizers: [],
    internalTrafficPolicy: to.internalTrafficPolicy,
    ips: families.map((each) => ADDRESSES[each]),
  };
}

/** The objects after a change. */
export function changed(objects: ObservedObjects, change: ImportChange): ObservedObjects {
  const others = (name: string) => objects.slices.filter((slice) => slice.name !== name);
  switch (change.kind) {
    case 'create-derived':
    case 'update-derived':
      return { ...objects, service: observedDerivedAs(change.to, objects.service) };
    case 'delete-derived':
      return { ...objects, service: undefined };
    case 'create-import':
    case 'update-import': {
      const { clusters = [], conditions = [], sliceObjects = '' } = objects.serviceImport ?? {};
      const { name, ...to } = change.to;
      return {
        ...objects,
        serviceImport: { ...identity(name), ...to, clusters, conditions, sliceObjects, ...UNTOUCHED },
      };
    }
    case 'delete-import':
      return { ...objects, serviceImport: undefined };
    case 'update-import-status':
      return { ...objects, serviceImport: { ...objects.serviceImport!, ...change.to } };
    case 'create-slice':
    case 'update-slice':
      return {
        ...objects,
        slices: [...others(change.to.name), { ...observedSliceAs(change.to), owners: [change.owner.uid] }],
      };
    case 'delete-slice':
      return { ...objects, slices: others(change.from.name) };
  }
}
