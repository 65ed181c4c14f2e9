import type { Writer } from './writer.ts';

/** Writes one field of a message, tag included, from its JSON value. */
export type Field = (out: Writer, value: unknown) => void;

/** The fields of a message by JSON name, the last one first, because the writer works backwards. */
export type Message = readonly (readonly [name: string, field: Field])[];

/** A message from its fields in the order of their numbers; `nameless` ones, which come last, have no value in JSON. */
export const message = (fields: Readonly<Record<string, Field>>, ...nameless: readonly Field[]): Message => [
  ...nameless.map((field) => ['', field] as const),
  ...Object.entries(fields).toReversed(),
];

/** Writes a message without its length. Fields of `value` that the table doesn't have are skipped. */
export function writeMessage(out: Writer, fields: Message, value: unknown): void {
  const values = (value ?? {}) as Readonly<Record<string, unknown>>;
  for (const [name, field] of fields) field(out, values[name]);
}

// Go writes a plain field even when it is empty, so that "" and 0 are on the wire. It skips only nil pointers, and
// empty lists and maps. Decoders should meet both.

export const string =
  (number: number): Field =>
  (out, value) =>
    out.nested(number, () => out.text((value as string | undefined) ?? ''));

export const integer =
  (number: number): Field =>
  (out, value) => {
    out.varint((value as number | undefined) ?? 0);
    out.tag(number, 'varint');
  };

export const bool =
  (number: number): Field =>
  (out, value) => {
    out.varint(value === true ? 1 : 0);
    out.tag(number, 'varint');
  };

/** `IntOrString`: 1 type (0 an integer, 1 a string), 2 intVal, 3 strVal. */
export const intOrString =
  (number: number): Field =>
  (out, value) =>
    out.nested(number, () => {
      const isString = typeof value === 'string';
      string(3)(out, isString ? value : '');
      integer(2)(out, isString ? 0 : value);
      integer(1)(out, isString ? 1 : 0);
    });

export const embedded =
  (number: number, fields: Message): Field =>
  (out, value) =>
    out.nested(number, () => writeMessage(out, fields, value));

/** A `Time` from its RFC 3339 text; an absent one is an empty message, unless the field is `optional`. */
export const time =
  (number: number): Field =>
  (out, value) =>
    out.nested(number, () => {
      if (typeof value !== 'string') return;
      integer(2)(out, 0);
      integer(1)(out, Math.floor(Date.parse(value) / 1000));
    });

/** The message FieldsV1, which holds the JSON text as it is. */
export const fieldsV1 =
  (number: number): Field =>
  (out, value) =>
    out.nested(number, () => string(1)(out, JSON.stringify(value)));

export const optional =
  (field: Field): Field =>
  (out, value) => {
    if (value !== undefined && value !== null) field(out, value);
  };

export const repeated =
  (field: Field): Field =>
  (out, value) => {
    const items = (value as readonly unknown[] | undefined) ?? [];
    for (let index = items.length - 1; index >= 0; index--) field(out, items[index]);
  };

/** A map is a list of messages with key 1 and value 2, in the order of the keys. */
export const map =
  (number: number, value: (number: number) => Field): Field =>
  (out, entries) => {
    const sorted = Object.entries((entries as Record<string, unknown> | undefined) ?? {}).toSorted(([a], [b]) =>
      a < b ? 1 : -1,
    );
    for (const [key, item] of sorted) {
      out.nested(number, () => {
        value(2)(out, item);
        string(1)(out, key);
      });
    }
  };

/**
 * Fields that no client knows, of each wire type: a later version of Kubernetes has such, and a decoder that can't
 * skip them is broken. Real field numbers end far below 1000.
 */
export const unknownFields: Field = (out) => {
  out.nested(1004, () => out.text('a field of a later version'));
  out.bytes(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8));
  out.tag(1003, 'fixed64');
  out.bytes(Uint8Array.of(1, 2, 3, 4));
  out.tag(1002, 'fixed32');
  out.varint(-1);
  out.tag(1001, 'varint');
};
