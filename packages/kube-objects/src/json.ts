import { DecodeError } from './errors.ts';
import type { Field, Fields, Projected } from './fields.ts';
import { setEntry } from './protobuf.ts';
import { zeroOf } from './zero.ts';

/**
 * Takes the fields of the table out of parsed JSON. What is null or missing has its zero value, as for the API
 * server itself; what has another type than the table says throws DecodeError, with the path to it.
 */
export function projectJson<F extends Fields>(value: unknown, fields: F, path: string): Projected<F> {
  const source = record(value, path);
  const object: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name]!;
    const found = Object.hasOwn(source, name) ? source[name] : undefined;
    object[name] = found === undefined || found === null ? zeroOf(field) : read(found, field, `${path}.${name}`);
  }
  return object as Projected<F>;
}

function read(value: unknown, field: Field, path: string): unknown {
  switch (field.type) {
    case 'string':
      return typeof value === 'string' ? value : wrong(path, 'a string');
    case 'bool':
    case 'optionalBool':
      return typeof value === 'boolean' ? value : wrong(path, 'a boolean');
    case 'int':
    case 'optionalInt':
      return Number.isSafeInteger(value) ? value : wrong(path, 'an integer');
    case 'intOrString':
      return Number.isSafeInteger(value) || typeof value === 'string' ? value : wrong(path, 'an integer or a string');
    case 'time':
      return typeof value === 'string' ? readTime(value, path) : wrong(path, 'a time');
    case 'stringMap':
      return readMap(value, path);
    case 'strings':
      return array(value, path).map((item) => (typeof item === 'string' ? item : wrong(path, 'an array of strings')));
    case 'message':
      return projectJson(value, field.fields, path);
    case 'messages':
      return array(value, path).map((item) => projectJson(item, field.fields, path));
    case 'json':
      return value;
  }
}

function readMap(value: unknown, path: string): Record<string, string> {
  const map: Record<string, string> = {};
  for (const [key, text] of Object.entries(record(value, path))) {
    setEntry(map, key, typeof text === 'string' ? text : wrong(path, 'a map of strings'));
  }
  return map;
}

/** RFC 3339, as Go writes it. Date.parse alone takes nearly anything. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/;

function readTime(text: string, path: string): number {
  const epochMs = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(epochMs) ? wrong(path, 'a time') : epochMs;
}

export function record(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(path, 'an object');
  return value as Record<string, unknown>;
}

export function array(value: unknown, path: string): unknown[] {
  return Array.isArray(value) ? value : wrong(path, 'an array');
}

function wrong(path: string, expected: string): never {
  throw new DecodeError(`JSON: ${path} is not ${expected}`);
}
