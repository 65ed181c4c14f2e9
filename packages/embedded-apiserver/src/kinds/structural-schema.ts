import { duplicate, required } from '../http/causes.ts';
import type { Cause } from '../http/status.ts';

/** The fields of a CustomResourceDefinition's `openAPIV3Schema` that we use. */
export type Schema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
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

/** How `value` breaks the schema: a wrong type, a missing field, or a duplicate in a set. */
export function* violations(value: unknown, schema: Schema, path = ''): Generator<Cause> {
  if (
    schema.type !== undefined &&
    typeOf(value) !== schema.type &&
    !(schema.type === 'number' && typeof value === 'number')
  ) {
    const actual = JSON.stringify(typeOf(value));
    const message = `Invalid value: ${actual}: ${path} in body must be of type ${schema.type}: ${actual}`;
    yield { reason: 'FieldValueTypeInvalid', message, field: path };
  } else if (Array.isArray(value)) {
    const seen = new Set<string>();
    for (const [index, item] of value.entries()) {
      const text = JSON.stringify(item);
      if (schema['x-kubernetes-list-type'] === 'set' && seen.has(text)) yield duplicate(`${path}[${index}]`, item);
      seen.add(text);
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

function fieldSchema({ properties, additionalProperties }: Schema, field: string): Schema | undefined {
  if (properties && Object.hasOwn(properties, field)) return properties[field];
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (Number.isInteger(value)) return 'integer';
  return value === null ? 'null' : typeof value;
}
