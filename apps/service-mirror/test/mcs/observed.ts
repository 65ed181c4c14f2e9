import type { ImportChange, ObservedObjects } from '../../src/imports/desired/changes.ts';
import type { ImportObjects } from '../../src/imports/desired/objects.ts';
import type { ObservedImport } from '../../src/imports/desired/observed.ts';
import { afterChange } from '../../src/imports/desired/planned.ts';

/** What the API server has of a write, for tests of pure functions. */

const ADDRESSES = { IPv4: '10.0.0.1', IPv6: 'fd00::1' } as const;

/** A ServiceImport as if everything desired were written. */
export const observedAs = ({ serviceImport: desired, status, service }: ImportObjects): ObservedImport => ({
  name: desired.name,
  uid: 'u',
  resourceVersion: '1',
  labels: desired.labels,
  annotations: desired.annotations,
  spec: {
    ...desired.spec,
    ips: service === undefined ? [] : service.definition.families.map((each) => ADDRESSES[each]),
  },
  clusters: status.clusters,
  conditions: status.conditions.map((each) => ({ ...each, observedGeneration: undefined, lastTransitionTime: 't' })),
  sliceObjects: status.sliceObjects,
  isTerminating: false,
  ownerReferences: [],
  finalizers: [],
});

/** The objects after a change. */
export const changed = (objects: ObservedObjects, change: ImportChange): ObservedObjects =>
  afterChange(objects, change, (families) => families.map((each) => ADDRESSES[each]));
