import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DecodeError } from './errors.ts';
import {
  bool,
  type Field,
  type Fields,
  int,
  intOrString,
  message,
  messages,
  optionalBool,
  optionalInt,
  string,
  stringMap,
  strings,
  time,
} from './fields.ts';
import { projectJson } from './json.ts';
import { bytesOf, MessageDecoder } from './protobuf.ts';
import { ProtobufReader } from './protobuf-reader.ts';

const fields = {
  name: string(1),
  hostNetwork: bool(2),
  count: int(3),
  labels: stringMap(4),
  finalizers: strings(5),
  status: message(6, { phase: string(1), podIPs: messages(12, { ip: string(1) }) }),
  ready: optionalBool(7),
  port: optionalInt(8),
  targetPort: intOrString(9),
  creationTimestamp: time(10),
  annotations: stringMap(11, 'one'),
} as const satisfies Fields;

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const object = fc.record(
  {
    name: text,
    hostNetwork: fc.boolean(),
    count: fc.maxSafeInteger(),
    labels: fc.dictionary(text, text, { maxKeys: 4 }),
    finalizers: fc.array(text, { maxLength: 4 }),
    status: fc.record(
      { phase: text, podIPs: fc.array(fc.record({ ip: text }), { maxLength: 3 }) },
      { requiredKeys: [] },
    ),
    ready: fc.boolean(),
    port: fc.integer(),
    targetPort: fc.oneof(fc.integer(), text),
    annotations: fc.dictionary(fc.constantFrom('one', 'two', ''), text, { maxKeys: 3 }),
    creationTimestamp: fc
      .integer({ min: Date.parse('0001-01-01T00:00:00Z') / 1000, max: Date.parse('9999-12-31T23:59:59Z') / 1000 })
      .map((seconds) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')),
  },
  { requiredKeys: [] },
);

/** Fields that no table names, of each wire type. */
const unknown = fc.oneof(
  fc.bigInt(0n, 2n ** 64n - 1n).map((value) => Buffer.concat([varint(20n << 3n), varint(value)])),
  fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => Buffer.concat([varint((21n << 3n) | 1n), bytes])),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => lengthDelimited(300, Buffer.from(bytes))),
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes) => Buffer.concat([varint((22n << 3n) | 5n), bytes])),
);

// Measured with `process.memoryUsage()`, on copies of a frozen object.
it.each([
  { fields: 1, bytes: 32 },
  { fields: 4, bytes: 56 },
  { fields: 5, bytes: 96 },
  { fields: 7, bytes: 96 },
  { fields: 8, bytes: 120 },
  { fields: 14, bytes: 168 },
])('an object of $fields fields counts $bytes bytes, as in V8', ({ fields: count, bytes }) => {
  const table = Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, bool(i + 1)]));
  expect(bytesOf(table)).toBe(bytes);
});

describe('MessageDecoder', () => {
  it('returns the same object as from JSON, with unknown fields in between', () => {
    fc.assert(
      fc.property(object, fc.array(unknown, { maxLength: 6 }), (value, junk) => {
        const bytes = encode(value, fields, junk);
        expect(decode(bytes)).toEqual(projectJson(JSON.parse(JSON.stringify(value)), fields, 'Thing'));
      }),
    );
  });

  it('throws DecodeError or reads less when bytes are cut', () => {
    fc.assert(
      fc.property(object, fc.nat(), (value, at) => {
        const bytes = encode(value, fields, []);
        expect([undefined, DecodeError]).toContain(errorOf(bytes.subarray(0, at % (bytes.length + 1))));
      }),
    );
  });

  it('throws DecodeError or reads any bytes, and never hangs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        expect([undefined, DecodeError]).toContain(errorOf(Buffer.from(bytes)));
      }),
    );
  });

  it.each([
    { name: 'a string with the wire type of a number', bytes: [0x08, 1], reason: /name has wire type 0/ },
    { name: 'a length beyond the end', bytes: [0x0a, 0x7f, 1], reason: /longer than its message/ },
    { name: 'a number that never ends', bytes: [0x18, 0xff, 0xff], reason: /runs past the end/ },
    { name: 'a number beyond 2^53', bytes: [0x18, ...Array<number>(8).fill(0xff), 0x7f], reason: /larger than 2\^53/ },
    { name: 'a number below -2^53', bytes: [0x18, ...Array<number>(9).fill(0x80), 1], reason: /smaller than -2\^53/ },
    { name: 'a group, which proto3 does not have', bytes: [0xa3, 0x01], reason: /wire type/ },
  ])('refuses $name', ({ bytes, reason }) => {
    expect(() => decode(Buffer.from(bytes))).toThrow(reason);
  });

  it('reads the one entry of a map that it is asked for, whether its key or its value comes first', () => {
    const entry = (...parts: readonly Buffer[]) => lengthDelimited(11, Buffer.concat(parts));
    const key = (name: string) => lengthDelimited(1, Buffer.from(name));
    const value = lengthDelimited(2, Buffer.from('v'));
    const { annotations } = decode(Buffer.concat([entry(key('two'), value), entry(value, key('one'))]));
    expect(annotations).toEqual({ one: 'v' });
    expect(decode(entry(key('one'))).annotations).toEqual({ one: '' });
  });

  it('reads a label with the key __proto__', () => {
    const labels = decode(encode({ labels: JSON.parse('{"__proto__": "x"}') as object }, fields, [])).labels;
    expect(Object.entries(labels)).toEqual([['__proto__', 'x']]);
    expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
  });
});

function decode(bytes: Buffer) {
  return new MessageDecoder(fields).decode(new ProtobufReader(bytes), bytes.length);
}

/** The class of the error that decoding throws, if any. */
function errorOf(bytes: Buffer): unknown {
  try {
    decode(bytes);
    return undefined;
  } catch (error) {
    return (error as Error).constructor;
  }
}

function encode(value: Record<string, unknown>, table: Fields, junk: readonly Buffer[]): Buffer {
  const parts = Object.entries(table).flatMap(([name, field]) =>
    value[name] === undefined ? [] : encodeField(value[name], field),
  );
  return Buffer.concat(
    parts.flatMap((part, index) => [part, junk[index] ?? Buffer.alloc(0)]).concat(junk.slice(parts.length)),
  );
}

function encodeField(value: unknown, field: Field): Buffer[] {
  switch (field.type) {
    case 'bool':
    case 'optionalBool':
      return [Buffer.concat([varint(BigInt(field.number << 3)), varint(value === true ? 1n : 0n)])];
    case 'int':
    case 'optionalInt':
      return [integer(field.number, value as number)];
    case 'intOrString':
      return [lengthDelimited(field.number, encodeIntOrString(value as number | string))];
    case 'time':
      return [lengthDelimited(field.number, integer(1, Date.parse(value as string) / 1000))];
    case 'string':
      return [lengthDelimited(field.number, Buffer.from(value as string))];
    case 'strings':
      return (value as string[]).map((item) => lengthDelimited(field.number, Buffer.from(item)));
    case 'stringMap':
      return Object.entries(value as object).map(([key, item]) =>
        lengthDelimited(field.number, encode({ key, item }, { key: string(1), item: string(2) }, [])),
      );
    case 'message':
    case 'optionalMessage':
      return [lengthDelimited(field.number, encode(value as Record<string, unknown>, field.fields, []))];
    case 'messages':
      return (value as Record<string, unknown>[]).map((item) =>
        lengthDelimited(field.number, encode(item, field.fields, [])),
      );
    case 'json':
      throw new Error('custom resources have no protobuf');
  }
}

/** Go also writes the unused half. */
function encodeIntOrString(value: number | string): Buffer {
  const [type, intVal, strVal] = typeof value === 'string' ? [1, 0, value] : [0, value, ''];
  return Buffer.concat([integer(1, type), integer(2, intVal), lengthDelimited(3, Buffer.from(strVal))]);
}

/** int32 and int64 alike: a negative one is that of 64 bits. */
function integer(number: number, value: number): Buffer {
  return Buffer.concat([varint(BigInt(number << 3)), varint(BigInt.asUintN(64, BigInt(value)))]);
}

function lengthDelimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(BigInt((number << 3) | 2)), varint(BigInt(bytes.length)), bytes]);
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  for (; value > 0x7fn; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(value)]);
}
