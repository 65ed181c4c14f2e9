import type { Dice } from '@kube-semaphore/fault-proxy';
import { mutateBytes, type Mutator } from './mutate.ts';

/** A field on the wire: its tag, its contents, and its fields if it is a message. `wire` has all of it, with tag and length. */
type Field = {
  readonly tag: number;
  readonly bytes: Buffer;
  readonly wire: Buffer;
  readonly inside: readonly Field[] | undefined;
};

/** A message, and the way to each of its fields at any depth: the fields that it is in, then itself. */
type Message = { readonly root: Field; readonly paths: readonly (readonly Field[])[] };

const MAGIC = Buffer.from('k8s\0');
const LENGTH_DELIMITED = 2;
const NOTHING = Buffer.alloc(0);

/** Removes, moves and repeats fields, with correct lengths. In one of four it also changes bytes anywhere. */
export const mutateProtobuf: Mutator = (seed, dice, bytes) => {
  const message = messageOf(seed);
  const changed = new Changed();
  for (let turns = dice.integer(0, 3); turns > 0; turns--) change(message, changed, dice);
  grow(message.root, changed, dice, bytes);
  const input = changed.bytesOf(message.root);
  return dice.integer(0, 3) === 0 ? mutateBytes(input, dice, 0) : input;
};

const messages = new WeakMap<Buffer, Message>();

function messageOf(seed: Buffer): Message {
  const known = messages.get(seed);
  if (known !== undefined) return known;
  const root = { tag: 0, bytes: seed, wire: seed, inside: parse(seed) };
  const message = { root, paths: pathsIn([root]) };
  messages.set(seed, message);
  return message;
}

function pathsIn(path: readonly Field[]): readonly (readonly Field[])[] {
  const { inside = [] } = path.at(-1)!;
  return inside.flatMap((field) => [[...path, field], ...pathsIn([...path, field])]);
}

/** A message of which some fields have other bytes. All else is copied. */
class Changed {
  readonly #wires = new Map<Field, Buffer>();
  readonly #owners = new Set<Field>();

  /** @param path the way to a field @param wire what is in its place: nothing, or one or more fields */
  put(path: readonly Field[], wire: Buffer): void {
    this.#wires.set(path.at(-1)!, wire);
    for (const owner of path.slice(0, -1)) this.#owners.add(owner);
  }

  wireOf(field: Field): Buffer {
    const wire = this.#wires.get(field);
    if (wire !== undefined) return wire;
    return this.#owners.has(field) ? framed(field.tag, this.bytesOf(field)) : field.wire;
  }

  bytesOf(field: Field): Buffer {
    const { bytes, inside } = field;
    // The root has no tag, so its wire is its contents.
    if (this.#wires.has(field)) return this.#wires.get(field)!;
    if (inside === undefined || !this.#owners.has(field)) return bytes;
    return contents(
      field,
      inside.map((inner) => this.wireOf(inner)),
    );
  }
}

function change({ paths }: Message, changed: Changed, dice: Dice): void {
  if (paths.length === 0) return;
  const path = dice.pick(paths);
  const field = path.at(-1)!;
  const wire = changed.wireOf(field);
  switch (dice.integer(0, 3)) {
    case 0:
      return changed.put(path, NOTHING);
    case 1:
      return changed.put(path, Buffer.concat([dice.pick(paths).at(-1)!.wire, wire]));
    case 2:
      return changed.put(path, repeated(wire, dice.integer(2, 3)));
    default:
      return changed.put(path, framed(field.tag, mutateBytes(field.bytes, dice, 0)));
  }
}

/** Repeats a field at any depth until the message has `bytes` bytes. */
function grow(root: Field, changed: Changed, dice: Dice, bytes: number): void {
  const path = pathIn(root, dice);
  const field = path.at(-1)!;
  const within = dice.integer(path.length > 1 ? 1 : 0, path.length - 1);
  const how = dice.pick(['whole', 'whole', 'empty', 'small', 'small'] as const);
  const times = dice.pick([1, 10, 100, 1_000]);
  const differs = dice.integer(0, 1) === 0;
  if (bytes === 0 && how === 'whole') return;
  const wires = {
    whole: () => changed.wireOf(field),
    empty: () => framed(field.tag, NOTHING),
    small: () => reduced(field, dice),
  };
  const wire = wires[how]();
  const copies = (of: Buffer): number => Math.ceil(bytes / Math.max(1, of.length));
  const text = differs ? firstText(field) : undefined;
  if (bytes === 0) return changed.put(path, wire);
  if (path[within] === field) return changed.put(path, repeated(wire, copies(wire), text));
  changed.put(path, repeated(wire, times, text));
  const outer = changed.wireOf(path[within]!);
  changed.put(path.slice(0, within + 1), repeated(outer, copies(outer)));
}

/** A path to a field at any depth, mostly through the largest fields, which hold the objects. */
function pathIn(root: Field, dice: Dice): readonly Field[] {
  const path: Field[] = [root];
  for (let { inside } = root; inside !== undefined && inside.length > 0; { inside } = path.at(-1)!) {
    const largest = inside.reduce((most, field) => (field.bytes.length > most.bytes.length ? field : most));
    path.push(dice.pick([largest, dice.pick(inside)]));
    if (dice.integer(0, 3) === 0) break;
  }
  return path;
}

/** A field with one field in each message, down to an empty one or one without any. */
function reduced(field: Field, dice: Dice): Buffer {
  if (field.inside === undefined || field.inside.length === 0)
    return (field.tag & 7) === LENGTH_DELIMITED ? framed(field.tag, NOTHING) : field.wire;
  const inner = contents(field, [reduced(dice.pick(field.inside), dice)]);
  return field.tag === 0 ? inner : framed(field.tag, inner);
}

/** The fields of a message, or undefined if the bytes can't be one. An object's magic number comes before its fields. */
function parse(bytes: Buffer): readonly Field[] | undefined {
  const fields: Field[] = [];
  let at = isObject(bytes) ? MAGIC.length : 0;
  const varint = (): number => {
    for (let value = 0, scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (at < bytes.length) {
    const start = at;
    const tag = varint();
    const from = at;
    const wireType = tag & 7;
    if (wireType === LENGTH_DELIMITED) {
      const length = varint();
      const inner = bytes.subarray(at, at + length);
      at += length;
      const wire = bytes.subarray(start, at);
      fields.push({ tag, bytes: inner, wire, inside: inner.length > 1 ? parse(inner) : undefined });
    } else if (wireType === 0 || wireType === 1 || wireType === 5) {
      if (wireType === 0) varint();
      else at += wireType === 1 ? 8 : 4;
      fields.push({ tag, bytes: bytes.subarray(from, at), wire: bytes.subarray(start, at), inside: undefined });
    } else return undefined;
    if (!(tag >= 8 && at <= bytes.length)) return undefined;
  }
  return fields;
}

const isObject = (bytes: Buffer): boolean => bytes.subarray(0, MAGIC.length).equals(MAGIC);

const contents = (of: Field, wires: readonly Buffer[]): Buffer =>
  Buffer.concat(isObject(of.bytes) ? [MAGIC, ...wires] : wires);

/** The width of a number that makes copies of a text different. */
const NUMBER_BYTES = 4;

/** @param text a part that differs in each copy */
function repeated(wire: Buffer, times: number, text?: Buffer): Buffer {
  const all = Buffer.alloc(wire.length * times, wire);
  const at = text === undefined ? -1 : wire.indexOf(text);
  for (let i = 0; at >= 0 && i < times; i++)
    all.write(i.toString(36).padStart(NUMBER_BYTES, '0'), i * wire.length + at);
  return all;
}

function firstText(field: Field): Buffer | undefined {
  const paths = [[field], ...pathsIn([field])];
  const isText = ({ inside, bytes }: Field): boolean => inside === undefined && bytes.length >= NUMBER_BYTES;
  return paths.map((path) => path.at(-1)!).find(isText)?.bytes;
}

function framed(tag: number, value: Buffer): Buffer {
  const length = (tag & 7) === LENGTH_DELIMITED ? varint(value.length) : [];
  return Buffer.concat([Buffer.from([...varint(tag), ...length]), value]);
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
