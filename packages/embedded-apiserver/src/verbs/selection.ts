import { parseFieldSelector } from './field-selector.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { Target } from '../http/request-info.ts';
import type { Resource } from '../kinds/resources.ts';
import { badRequest } from '../http/status.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** The objects of a resource that a list or watch selects. */
export type Selection = {
  /** Whether only the namespace limits it, and no selector. */
  readonly whole: boolean;
  includes(object: StoredObject): boolean;
};

/** Reads namespace, labelSelector and fieldSelector. @throws {ApiError} 400 for an invalid selector */
export function select(resource: Resource, { namespace }: Target, query: URLSearchParams): Selection {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  const labels = parseLabelSelector(labelText);
  if (!labels.ok) throw badRequest(labels.reason);
  const supported = ['metadata.name', 'metadata.namespace', ...Object.keys(resource.fields ?? {})];
  const fields = parseFieldSelector(fieldText, supported);
  if (!fields.ok) throw badRequest(fields.reason);
  return {
    whole: labelText === '' && fieldText === '',
    includes: (object) =>
      (namespace === '' || object.namespace === namespace) &&
      labels.value(object.labels) &&
      fields.value(object.fields),
  };
}
