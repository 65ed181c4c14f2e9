/**
 * The `fieldsV1` of an object that one client wrote, as kube-apiserver keeps it. It is half of a pod's size, and the first
 * thing that a client should skip. Lists are keyed by `name`, and are otherwise one field.
 */
export function fieldsV1(value: unknown): Record<string, unknown> {
  if (Array.isArray(value)) return Object.fromEntries((value as unknown[]).flatMap(item));
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([field, inner]) => [`f:${field}`, fieldsV1(inner)]));
}

function item(value: unknown): [string, unknown][] {
  const name = (value as { name?: unknown }).name;
  return typeof name === 'string' ? [[`k:${JSON.stringify({ name })}`, { '.': {}, ...fieldsV1(value) }]] : [];
}
