import type { Field, Fields } from './fields.ts';

/** All empty lists and maps; frozen, as thousands of objects share them. */
export const NO_ELEMENTS: readonly unknown[] = Object.freeze([]);
export const NO_ENTRIES: Readonly<Record<string, string>> = Object.freeze({});

/** The value of a missing field. Objects share it, so that missing fields take no memory. */
export function zeroOf(field: Field): unknown {
  switch (field.type) {
    case 'string':
      return '';
    case 'bool':
      return false;
    case 'int':
    case 'intOrString':
    case 'time':
      return 0;
    case 'stringMap':
      return NO_ENTRIES;
    case 'strings':
    case 'messages':
      return NO_ELEMENTS;
    case 'message':
      return zeroMessage(field.fields);
    case 'optionalBool':
    case 'optionalInt':
    case 'optionalMessage':
    case 'json':
      return undefined;
  }
}

const zeros = new WeakMap<Fields, object>();

/** A message without set fields: the same object for each call with the same table. */
export function zeroMessage(fields: Fields): object {
  const known = zeros.get(fields);
  if (known !== undefined) return known;
  const zero = Object.freeze(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, zeroOf(field)])));
  zeros.set(fields, zero);
  return zero;
}
