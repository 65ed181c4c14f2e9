import type { Dice } from '@kube-semaphore/fault-proxy';
import { mutateBytes, type Mutator } from './mutate.ts';

/** A field as it is on the wire: its tag, and the fields in it if its bytes are a message, or else the bytes. */
type Field = { readonly tag: number; bytes: Buffer; inside: Field[] | undefined; times: number };

const MAGIC = Buffer.from('k8s\0');
const LENGTH_DELIMITED = 2;

/** Fields removed, moved and repeated, and lengths that fit; in one of four then bytes changed anywhere. */
export const mutateProtobuf: Mutator = (seed, dice, bytes) => {
  const root = { tag: 0, bytes: seed, inside: parse(seed), times: 1 };
  for (let turns = dice.integer(0, 3); turns > 0; turns--) change(root, dice);
  const fields = fieldsIn(root);
  const field = dice.pick(fields.length > 0 ? fields : [root]);
  if (dice.integer(0, 2) === 0) Object.assign(field, { bytes: Buffer.alloc(0), inside: undefined });
  if (bytes > 0) field.times = Math.ceil(bytes / Math.max(1, encode(field).length));
  const input = contents(root);
  return dice.integer(0, 3) === 0 ? mutateBytes(input, dice, 0) : input;
};

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
  return Buffer.alloc(once.length * field.times, once);
}

function encode(field: Field): Buffer {
  const value = contents(field);
  const length = (field.tag & 7) === LENGTH_DELIMITED ? varint(value.length) : [];
  return Buffer.concat([Buffer.from([...varint(field.tag), ...length]), value]);
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
