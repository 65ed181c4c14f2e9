import { DecodeError, TooLargeError } from './errors.ts';
import { type Field, type Fields, LONGEST_MAP_VALUE, LONGEST_TEXT, type Projected } from './fields.ts';
import { LENGTH_DELIMITED, type ProtobufReader, VARINT } from './protobuf-reader.ts';
import { zeroOf } from './zero.ts';

const varints: ReadonlySet<Field['type']> = new Set(['bool', 'int', 'optionalBool', 'optionalInt']);

type Slot = { readonly name: string; readonly field: Field; readonly wireType: number; readonly message: MessageDecoder | undefined };

/**
 * Decodes one message type as its table says, and skips what the table doesn't name by its length: nine tenths of
 * a Pod are never looked at. Made once per kind.
 */
export class MessageDecoder<F extends Fields = Fields> {
  /** In the order of the table. */
  readonly #slots: readonly Slot[];
  /** By field number. */
  readonly #byNumber: (Slot | undefined)[] = [];
  /** What an object of this type takes without its texts, in bytes. */
  readonly #bytes: number;

  constructor(fields: F) {
    this.#slots = Object.entries(fields).map(([name, field]) => {
      const nested = field.type === 'message' || field.type === 'messages';
      const wireType = varints.has(field.type) ? VARINT : LENGTH_DELIMITED;
      return { name, field, wireType, message: nested ? new MessageDecoder(field.fields) : undefined };
    });
    for (const slot of this.#slots) if (slot.field.type !== 'json') this.#byNumber[slot.field.number] = slot;
    this.#bytes = zeroBytes(fields);
  }

  /** Reads up to `end`; the reader stands at the message's first tag. Throws DecodeError, and TooLargeError beyond what a table or the reader allows. */
  decode(reader: ProtobufReader, end: number): Projected<F> {
    reader.spend(this.#bytes);
    const object: Record<string, unknown> = {};
    // Messages last, for those that are there replace the zero value as a whole; all keys in one order, one V8 shape.
    for (const slot of this.#slots) object[slot.name] = slot.field.type === 'message' ? undefined : zeroOf(slot.field);
    while (reader.position < end) {
      const tag = reader.tag(end);
      const slot = this.#byNumber[tag >>> 3];
      if (slot === undefined) reader.skip(tag, end);
      else read(reader, end, tag, slot, object);
    }
    for (const slot of this.#slots) object[slot.name] ??= zeroOf(slot.field);
    return object as Projected<F>;
  }
}

/**
 * A message of two bytes may stand for an object of hundreds, so what counts is what it becomes: as V8 has it, three
 * words of head and one for each property, and the arrays and objects that are there even if they are empty.
 */
export function zeroBytes(fields: Fields): number {
  const inside = Object.values(fields).map((field) => {
    if (field.type === 'message') return zeroBytes(field.fields);
    return field.type === 'messages' || field.type === 'strings' || field.type === 'stringMap' ? EMPTY_BYTES : 0;
  });
  return inside.reduce((sum, bytes) => sum + WORD_BYTES + bytes, 3 * WORD_BYTES);
}

const WORD_BYTES = 8;
const EMPTY_BYTES = 4 * WORD_BYTES;

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
      readMapEntry(reader, reader.length(end), object[name] as Record<string, string>);
      return;
    case 'strings':
      room(object[name] as string[], slot.name, field.atMost).push(reader.string(end, LONGEST_TEXT));
      return;
    case 'message':
      object[name] = slot.message!.decode(reader, reader.length(end));
      return;
    case 'messages':
      room(object[name] as unknown[], slot.name, field.atMost).push(slot.message!.decode(reader, reader.length(end)));
      return;
    case 'json':
      throw new DecodeError(`protobuf: ${name} is only read from JSON`);
  }
}

/** @throws TooLargeError when there is none */
function room<T>(list: T[], name: string, atMost: number): T[] {
  if (list.length < atMost) return list;
  throw new TooLargeError(`${name} has more than ${atMost} elements`);
}

/** A map is a repeated message of key = 1 and value = 2. */
function readMapEntry(reader: ProtobufReader, end: number, map: Record<string, string>): void {
  let key = '';
  let value = '';
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === 0x0a) key = reader.string(end, LONGEST_TEXT);
    else if (tag === 0x12) value = reader.string(end, LONGEST_MAP_VALUE);
    else reader.skip(tag, end);
  }
  setEntry(map, key, value);
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

/** metav1.Time: 1 seconds; 2 nanos are never written, since JSON has none. */
function readTime(reader: ProtobufReader, end: number): number {
  let seconds = 0;
  while (reader.position < end) {
    const tag = reader.tag(end);
    if (tag === 0x08) seconds = reader.integer(end);
    else reader.skip(tag, end);
  }
  return seconds * 1000;
}

/** `__proto__` is a legal label key to a hostile server, and must become an entry like any other. */
export function setEntry(map: Record<string, string>, key: string, value: string): void {
  if (key === '__proto__') Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}
