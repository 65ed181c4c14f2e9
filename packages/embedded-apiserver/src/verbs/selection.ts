import { parseFieldSelector } from './field-selector.ts';
import { parseLabelSelector } from './label-selector.ts';
import type { Target } from '../http/request-info.ts';
import type { Resource } from '../kinds/resources.ts';
import { badRequest } from '../http/status.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** Which objects of a resource a list or watch is about. */
export type Selection = {
  /** No selector narrows it, only the namespace. */
  readonly whole: boolean;
  includes(object: StoredObject): boolean;
};

/** Reads namespace, labelSelector and fieldSelector. @throws {ApiError} 400 for a selector that can't be read */
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
