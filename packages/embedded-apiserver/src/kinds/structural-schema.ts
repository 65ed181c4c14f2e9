import { duplicate, invalidValue, notSupported, required, tooLong, tooMany } from '../http/causes.ts';
import type { Cause } from '../http/status.ts';

/** The fields of a CustomResourceDefinition's `openAPIV3Schema` that we use. */
export type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
};

/** `value` without fields that the schema doesn't have. A write drops them silently. */
export function prune(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => prune(item, schema.items!)) : value;
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([field, inner]): [string, unknown][] => {
    const known = fieldSchema(schema, field);
    if (known) return [[field, prune(inner, known)]];
    return schema['x-kubernetes-preserve-unknown-fields'] ? [[field, inner]] : [];
  });
  return Object.fromEntries(kept);
}

/** How `value` breaks the schema: a wrong type or text, a missing field, a list that is too long or has a duplicate. */
export function* violations(value: unknown, schema: Schema, path = ''): Generator<Cause> {
  if (
    schema.type !== undefined &&
    typeOf(value) !== schema.type &&
    !(schema.type === 'number' && typeof value === 'number')
  ) {
    const actual = JSON.stringify(typeOf(value));
    const message = `Invalid value: ${actual}: ${path} in body must be of type ${schema.type}: ${actual}`;
    yield { reason: 'FieldValueTypeInvalid', message, field: path };
  } else if (typeof value === 'string') {
    yield* textViolations(value, schema, path);
  } else if (Array.isArray(value)) {
    const { maxItems = Infinity } = schema;
    if (value.length > maxItems) yield tooMany(path, value.length, maxItems);
    const seen = new Set<string>();
    for (const [index, item] of value.entries()) {
      const key = keyOf(item, schema);
      if (key !== undefined && seen.has(JSON.stringify(key))) yield duplicate(`${path}[${index}]`, key);
      seen.add(JSON.stringify(key));
      if (schema.items) yield* violations(item, schema.items, `${path}[${index}]`);
    }
  } else if (typeof value === 'object' && value !== null) {
    const at = (field: string) => (path === '' ? field : `${path}.${field}`);
    for (const field of schema.required ?? []) if (!Object.hasOwn(value, field)) yield required(at(field));
    for (const [field, inner] of Object.entries(value)) {
      const known = fieldSchema(schema, field);
      if (known) yield* violations(inner, known, at(field));
    }
  }
}

function* textViolations(value: string, schema: Schema, path: string): Generator<Cause> {
  const { minLength = 0, maxLength = Infinity, pattern } = schema;
  if (schema.enum !== undefined && !schema.enum.includes(value)) yield notSupported(path, value, schema.enum);
  if (value.length < minLength)
    yield invalidValue(path, value, `${path} in body should be at least ${minLength} chars long`);
  if (value.length > maxLength) yield tooLong(path, maxLength);
  if (pattern !== undefined && !new RegExp(pattern).test(value))
    yield invalidValue(path, value, `${path} in body should match '${pattern}'`);
}

/** What must be unique in a list: the whole item of a set, the keys of an item of a map; undefined for other lists. */
function keyOf(item: unknown, schema: Schema): unknown {
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return item;
  if (type !== 'map' || typeof item !== 'object' || item === null) return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return Object.fromEntries(Object.entries(item).filter(([field]) => keys.includes(field)));
}

function fieldSchema({ properties, additionalProperties }: Schema, field: string): Schema | undefined {
  if (properties && Object.hasOwn(properties, field)) return properties[field];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (Number.isInteger(value)) return 'integer';
  return value === null ? 'null' : typeof value;
}
