import type { KubeObject } from '../cluster.ts';
import { defaultEndpointSlice } from './endpoint-slices.ts';
import type { Resource } from './resources.ts';
import { defaultService } from './services.ts';
import { prune } from './structural-schema.ts';

const defaults: Readonly<Record<string, (object: KubeObject, previous?: KubeObject) => KubeObject>> = {
  EndpointSlice: defaultEndpointSlice,
  Service: defaultService,
};

/**
 * What becomes of an object before it is looked at: fields that the client left out are filled in, for the kinds in
 * which our programs would take the difference for somebody else's change, and unknown ones of custom resources go.
 */
export function normalise(resource: Resource, object: KubeObject, previous?: KubeObject): KubeObject {
  const { apiVersion, kind } = object;
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([, value]) => !isEmpty(value)));
  const complete = defaults[resource.kind]?.(object, previous) ?? object;
  const known = resource.schema ? (prune(complete, resource.schema) as object) : complete;
  return { ...known, apiVersion, kind, metadata: metadata as KubeObject['metadata'] };
}

/** Whether Go leaves a value of the metadata out when it writes JSON. */
const isEmpty = (value: unknown) =>
  value === '' || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
