import type { Dice } from '@kube-semaphore/fault-proxy';
import { mutateBytes, type Mutator } from './mutate.ts';

/**
 * A field on the wire: its tag, and its fields if it is a message, or else its bytes.
 * `differs` makes all its copies different.
 */
type Field = { readonly tag: number; bytes: Buffer; inside: Field[] | undefined; times: number; differs?: boolean };

const MAGIC = Buffer.from('k8s\0');
const LENGTH_DELIMITED = 2;

/** Removes, moves and repeats fields, with correct lengths. In one of four it also changes bytes anywhere. */
export const mutateProtobuf: Mutator = (seed, dice, bytes) => {
  const root = { tag: 0, bytes: seed, inside: parse(seed), times: 1 };
  for (let turns = dice.integer(0, 3); turns > 0; turns--) change(root, dice);
  grow(root, dice, bytes);
  const input = contents(root);
  return dice.integer(0, 3) === 0 ? mutateBytes(input, dice, 0) : input;
};

/** Repeats a field at any depth until the message has `bytes` bytes. */
function grow(root: Field, dice: Dice, bytes: number): void {
  const path = pathIn(root, dice);
  const field = path.at(-1)!;
  const within = dice.pick(path);
  const how = dice.pick(['whole', 'empty', 'small', 'small'] as const);
  const times = dice.pick([1, 10, 100, 1_000]);
  const differs = dice.integer(0, 1) === 0;
  if (how === 'empty') Object.assign(field, { bytes: Buffer.alloc(0), inside: undefined });
  if (how === 'small') reduce(field, dice);
  if (bytes === 0) return;
  if (within !== field) field.times = times;
  field.differs = differs;
  within.times = Math.ceil(bytes / Math.max(1, encode(within).length));
}

/** A path to a field at any depth, mostly through the largest fields, which hold the objects. */
function pathIn(root: Field, dice: Dice): readonly Field[] {
  const path: Field[] = [];
  for (let { inside } = root; inside !== undefined && inside.length > 0; { inside } = path.at(-1)!) {
    const largest = inside.reduce((most, field) => (field.bytes.length > most.bytes.length ? field : most));
    path.push(dice.pick([largest, dice.pick(inside)]));
    if (dice.integer(0, 3) === 0) break;
  }
  return path.length > 0 ? path : [root];
}

/** Leaves one field in each message, down to an empty one or one without any. */
function reduce(field: Field, dice: Dice): void {
  if (field.inside === undefined || field.inside.length === 0) {
    if ((field.tag & 7) === LENGTH_DELIMITED) Object.assign(field, { bytes: Buffer.alloc(0), inside: undefined });
    return;
  }
  const one = structured(dice.pick(field.inside));
  reduce(one, dice);
  field.inside = [one];
}

function change(root: Field, dice: Dice): void {
  const owners = [root, ...fieldsIn(root)].filter(({ inside }) => inside !== undefined && inside.length > 0);
  if (owners.length === 0) return;
  const { inside } = dice.pick(owners);
  const at = dice.integer(0, inside!.length - 1);
  const field = inside![at]!;
  switch (dice.integer(0, 3)) {
    case 0:
      inside!.splice(at, 1);
      return;
    case 1:
      inside!.splice(at, 0, structured(dice.pick(fieldsIn(root))));
      return;
    case 2:
      field.times = dice.integer(2, 3);
      return;
    default:
      Object.assign(field, { bytes: mutateBytes(contents(field), dice, 0), inside: undefined });
  }
}

const structured = (field: Field): Field => ({ ...field, inside: field.inside?.map(structured) });

const fieldsIn = ({ inside = [] }: Field): readonly Field[] => inside.flatMap((field) => [field, ...fieldsIn(field)]);

/** The fields of a message, or undefined if the bytes can't be one. An object's magic number comes before its fields. */
function parse(bytes: Buffer): Field[] | undefined {
  const fields: Field[] = [];
  let at = bytes.subarray(0, 4).equals(MAGIC) ? 4 : 0;
  const varint = (): number => {
    for (let value = 0, scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const tag = varint();
    const from = at;
    const wireType = tag & 7;
    if (wireType === LENGTH_DELIMITED) {
      const length = varint();
      const inner = bytes.subarray(at, at + length);
      at += length;
      fields.push({ tag, bytes: inner, inside: inner.length > 1 ? parse(inner) : undefined, times: 1 });
    } else if (wireType === 0 || wireType === 1 || wireType === 5) {
      if (wireType === 0) varint();
      else at += wireType === 1 ? 8 : 4;
      fields.push({ tag, bytes: bytes.subarray(from, at), inside: undefined, times: 1 });
    } else return undefined;
    if (!(tag >= 8 && at <= bytes.length)) return undefined;
  }
  return fields;
}

function contents({ bytes, inside }: Field): Buffer {
  if (inside === undefined) return bytes;
  const isObject = bytes.subarray(0, 4).equals(MAGIC);
  return Buffer.concat([...(isObject ? [MAGIC] : []), ...inside.map(repeated)]);
}

function repeated(field: Field): Buffer {
  const once = encode(field);
  const all = Buffer.alloc(once.length * field.times, once);
  const at = field.differs ? once.indexOf(firstText(field)) : -1;
  for (let i = 0; at >= 0 && i < field.times; i++)
    all.write(i.toString(36).padStart(NUMBER_BYTES, '0'), i * once.length + at);
  return all;
}

/** The width of a number that makes copies of a text different. */
const NUMBER_BYTES = 4;
const NO_TEXT = Buffer.from('no message has this text');

function firstText(field: Field): Buffer {
  const texts = [field, ...fieldsIn(field)].filter(
    ({ inside, bytes }) => inside === undefined && bytes.length >= NUMBER_BYTES,
  );
  return texts[0]?.bytes ?? NO_TEXT;
}

function encode(field: Field): Buffer {
  const value = contents(field);
  const length = (field.tag & 7) === LENGTH_DELIMITED ? varint(value.length) : [];
  return Buffer.concat([Buffer.from([...varint(field.tag), ...length]), value]);
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
