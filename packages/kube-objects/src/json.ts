import { DecodeError, TooLargeError } from './errors.ts';
import { type Field, type Fields, LONGEST_MAP_VALUE, LONGEST_TEXT, type Projected } from './fields.ts';
import { bytesOf, setEntry } from './protobuf.ts';
import { zeroMessage, zeroOf } from './zero.ts';

/** Counts the memory of an object except its texts, which parsed JSON already has: `{}` may become hundreds of bytes. */
export class JsonBudget {
  readonly #allowedBytes: number;
  #spentBytes = 0;

  constructor(allowedBytes = Infinity) {
    this.#allowedBytes = allowedBytes;
  }

  get spentBytes(): number {
    return this.#spentBytes;
  }

  /** Call it before an object is made. @throws TooLargeError */
  spend(fields: Fields): void {
    this.#spentBytes += bytesOf(fields);
    if (this.#spentBytes > this.#allowedBytes)
      throw new TooLargeError(`it takes more than ${this.#allowedBytes} bytes of memory`);
  }
}

/**
 * Takes the fields of the table out of parsed JSON. A null or missing field has its zero value, as in the API server.
 *
 * @throws DecodeError with the path of a field that has another type; TooLargeError beyond a limit of the table or budget
 */
export function projectJson<F extends Fields>(
  value: unknown,
  fields: F,
  path: string,
  budget = new JsonBudget(),
): Projected<F> {
  const source = record(value, path);
  if (Object.keys(source).length === 0) return zeroMessage(fields) as Projected<F>;
  budget.spend(fields);
  const object: Record<string, unknown> = {};
  for (const name in fields) {
    const field = fields[name]!;
    const found = Object.hasOwn(source, name) ? source[name] : undefined;
    object[name] =
      found === undefined || found === null ? zeroOf(field) : read(found, field, `${path}.${name}`, budget);
  }
  return object as Projected<F>;
}

function read(value: unknown, field: Field, path: string, budget: JsonBudget): unknown {
  switch (field.type) {
    case 'string':
      return text(value, field.atMost, path);
    case 'bool':
    case 'optionalBool':
      return typeof value === 'boolean' ? value : wrong(path, 'a boolean');
    case 'int':
    case 'optionalInt':
      return Number.isSafeInteger(value) ? value : wrong(path, 'an integer');
    case 'intOrString':
      return Number.isSafeInteger(value) ? value : text(value, LONGEST_TEXT, path, 'an integer or a string');
    case 'time':
      return typeof value === 'string' ? readTime(value, path) : wrong(path, 'a time');
    case 'stringMap':
      return readMap(value, path, field.only);
    case 'strings':
      return upTo(field.atMost, value, path).map((item) => text(item, LONGEST_TEXT, path, 'an array of strings'));
    case 'message':
    case 'optionalMessage':
      return projectJson(value, field.fields, path, budget);
    case 'messages':
      return upTo(field.atMost, value, path).map((item) => projectJson(item, field.fields, path, budget));
    case 'json':
      if (isDeeper(value, field.depth)) return tooLarge(path, 'is nested too deeply');
      return countOf(value) > field.atMost ? tooLarge(path, `has more than ${field.atMost} values`) : value;
  }
}

/** The number of values inside of one that isn't deep. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, inner) => sum + 1 + countOf(inner), 0);
}

/** Whether a JSON value has more levels than `depth`. */
export function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((inner) => isDeeper(inner, depth - 1));
}

/** @param atMost bytes, as in protobuf; a UTF-16 code unit has up to three */
function text(value: unknown, atMost: number, path: string, expected = 'a string'): string {
  if (typeof value !== 'string') return wrong(path, expected);
  const isShort = value.length * 3 <= atMost || (value.length <= atMost && Buffer.byteLength(value) <= atMost);
  return isShort ? value : tooLarge(path, `has more than ${atMost} bytes`);
}

function upTo(atMost: number, value: unknown, path: string): unknown[] {
  const found = array(value, path);
  return found.length <= atMost ? found : tooLarge(path, `has more than ${atMost} elements`);
}

function readMap(value: unknown, path: string, only: string | undefined): Record<string, string> {
  const map: Record<string, string> = {};
  for (const [key, found] of Object.entries(record(value, path))) {
    if (only !== undefined && key !== only) continue;
    setEntry(map, text(key, LONGEST_TEXT, path), text(found, LONGEST_MAP_VALUE, path, 'a map of strings'));
  }
  return map;
}

/** RFC 3339, as Go writes it. Date.parse alone accepts nearly any text. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/;

function readTime(time: string, path: string): number {
  const epochMs = TIME.test(time) ? Date.parse(time) : Number.NaN;
  return Number.isNaN(epochMs) ? wrong(path, 'a time') : epochMs;
}

export function record(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(path, 'an object');
  return value as Record<string, unknown>;
}

/** The fields of any value; empty for a value that isn't an object. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

export function array(value: unknown, path: string): unknown[] {
  return Array.isArray(value) ? value : wrong(path, 'an array');
}

function tooLarge(path: string, what: string): never {
  throw new TooLargeError(`${path} ${what}`);
}

function wrong(path: string, expected: string): never {
  throw new DecodeError(`JSON: ${path} is not ${expected}`);
}
