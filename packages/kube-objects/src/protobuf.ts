import { DecodeError, TooLargeError } from './errors.ts';
import { type Field, type Fields, LONGEST_MAP_VALUE, LONGEST_TEXT, type Projected } from './fields.ts';
import { LENGTH_DELIMITED, type ProtobufReader, VARINT } from './protobuf-reader.ts';
import { NO_ELEMENTS, NO_ENTRIES, zeroMessage } from './zero.ts';

const varints: ReadonlySet<Field['type']> = new Set(['bool', 'int', 'optionalBool', 'optionalInt']);

type Slot = {
  readonly name: string;
  readonly field: Field;
  readonly wireType: number;
  readonly message: MessageDecoder | undefined;
};

/**
 * Decodes one message type by its table, and skips other fields by their length: nine tenths of a Pod are never read.
 * Made once per kind.
 */
export class MessageDecoder<F extends Fields = Fields> {
  /** By field number. */
  readonly #byNumber: (Slot | undefined)[] = [];
  /** The memory of an object of this type without its fields' values, in bytes. */
  readonly #bytes: number;
  readonly #zero: Projected<F>;

  constructor(fields: F) {
    for (const [name, field] of Object.entries(fields)) {
      if (field.type === 'json') continue;
      const wireType = varints.has(field.type) ? VARINT : LENGTH_DELIMITED;
      const inner = 'fields' in field ? new MessageDecoder(field.fields) : undefined;
      this.#byNumber[field.number] = { name, field, wireType, message: inner };
    }
    this.#bytes = bytesOf(fields);
    this.#zero = zeroMessage(fields) as Projected<F>;
  }

  /** Reads from the message's first tag to `end`. @throws DecodeError; TooLargeError beyond a limit of the table or the reader */
  decode(reader: ProtobufReader, end: number): Projected<F> {
    if (reader.position === end) return this.#zero;
    reader.spend(this.#bytes);
    // A copy has the order of keys of the table, so all objects share one V8 shape.
    const object: Record<string, unknown> = { ...this.#zero };
    while (reader.position < end) {
      const tag = reader.tag(end);
      const slot = this.#byNumber[tag >>> 3];
      if (slot === undefined) reader.skip(tag, end);
      else read(reader, end, tag, slot, object);
    }
    return object as Projected<F>;
  }
}

/**
 * A message of a few bytes may become an object of a hundred, so the object's memory counts. In V8, a copy has three words of
 * header and up to four properties; the others are in an array beside it, with two words of header and space for three at a time.
 */
export function bytesOf(fields: Fields): number {
  const { length } = Object.keys(fields);
  const beside = Math.max(0, length - 4);
  const array = beside === 0 ? 0 : 2 + 3 * Math.ceil(beside / 3);
  return (3 + length - beside + array) * WORD_BYTES;
}

const WORD_BYTES = 8;
/** A list or a map, with the space that V8 reserves for its first elements. */
const LIST_BYTES = 8 * WORD_BYTES;
/** The slot of a key and its value in a hash table that is half full. */
const ENTRY_BYTES = 8 * WORD_BYTES;
/** The slot of an element in an array, with unused space. */
const ELEMENT_BYTES = 2 * WORD_BYTES;

function read(reader: ProtobufReader, end: number, tag: number, slot: Slot, object: Record<string, unknown>): void {
  const { name, field, wireType } = slot;
  if ((tag & 7) !== wireType) throw new DecodeError(`protobuf: ${name} has wire type ${tag & 7}, not ${wireType}`);
  switch (field.type) {
    case 'string':
      object[name] = reader.string(end, field.atMost);
      return;
    case 'bool':
    case 'optionalBool':
      object[name] = reader.varint(end) !== 0;
      return;
    case 'int':
    case 'optionalInt':
      object[name] = reader.integer(end);
      return;
    case 'intOrString':
      object[name] = readIntOrString(reader, reader.length(end));
      return;
    case 'time':
      object[name] = readTime(reader, reader.length(end));
      return;
    case 'stringMap':
      if (field.only === undefined) readMapEntry(reader, reader.length(end), mapAt(object, name, reader));
      else {
        const value = readValueOf(field.only, reader, reader.length(end));
        if (value !== undefined) mapAt(object, name, reader)[field.only] = value;
      }
      return;
    case 'strings':
      listAt(object, slot, field.atMost, reader).push(reader.string(end, LONGEST_TEXT));
      return;
    case 'message':
    case 'optionalMessage':
      object[name] = slot.message!.decode(reader, reader.length(end));
      return;
    case 'messages':
      listAt(object, slot, field.atMost, reader).push(slot.message!.decode(reader, reader.length(end)));
      return;
    case 'json':
      throw new DecodeError(`protobuf: ${name} is only read from JSON`);
  }
}

/** The list for one more element. @throws TooLargeError if the list is full */
function listAt(object: Record<string, unknown>, { name }: Slot, atMost: number, reader: ProtobufReader): unknown[] {
  reader.spend(ELEMENT_BYTES);
  if (object[name] === NO_ELEMENTS) {
    reader.spend(LIST_BYTES);
    object[name] = [];
  }
  const list = object[name] as unknown[];
  if (list.length < atMost) return list;
  throw new TooLargeError(`${name} has more than ${atMost} elements`);
}

/** The map for one more entry. */
function mapAt(object: Record<string, unknown>, name: string, reader: ProtobufReader): Record<string, string> {
  reader.spend(ENTRY_BYTES);
  if (object[name] === NO_ENTRIES) {
    reader.spend(LIST_BYTES);
    object[name] = {};
  }
  return object[name] as Record<string, string>;
}

/** A map is a repeated message of key = 1 and value = 2. */
function readMapEntry(reader: ProtobufReader, end: number, map: Record<string, string>): void {
  let key = '';
  let value = '';
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === 0x0a) key = reader.sharedString(end, LONGEST_TEXT);
    else if (tag === 0x12) value = reader.sharedString(end, LONGEST_MAP_VALUE);
    else reader.skip(tag, end);
  }
  setEntry(map, key, value);
}

/** The value of an entry with this key; undefined if it has another key, which isn't decoded: each Pod has several. */
function readValueOf(only: string, reader: ProtobufReader, end: number): string | undefined {
  let isWanted = false;
  let valueAt = end;
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === 0x0a) isWanted = reader.isString(only, end);
    else {
      if (tag === 0x12) valueAt = reader.position;
      reader.skip(tag, end);
    }
  }
  if (!isWanted) return undefined;
  if (valueAt === end) return '';
  reader.seek(valueAt);
  const value = reader.string(end, LONGEST_MAP_VALUE);
  reader.seek(end);
  return value;
}

/** k8s.io/apimachinery/pkg/util/intstr: 1 type (0 an integer, 1 a string), 2 intVal, 3 strVal. */
function readIntOrString(reader: ProtobufReader, end: number): number | string {
  let isString = false;
  let integer = 0;
  let text = '';
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === 0x08) isString = reader.integer(end) === 1;
    else if (tag === 0x10) integer = reader.integer(end);
    else if (tag === 0x1a) text = reader.string(end, LONGEST_TEXT);
    else reader.skip(tag, end);
  }
  return isString ? text : integer;
}

/** metav1.Time: 1 seconds; 2 nanos are never written, as JSON has none. */
function readTime(reader: ProtobufReader, end: number): number {
  let seconds = 0;
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === 0x08) seconds = reader.integer(end);
    else reader.skip(tag, end);
  }
  return seconds * 1000;
}

/** Sets an entry. A hostile server may send the key `__proto__`, which must become an entry like any other. */
export function setEntry(map: Record<string, string>, key: string, value: string): void {
  if (key === '__proto__')
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}
