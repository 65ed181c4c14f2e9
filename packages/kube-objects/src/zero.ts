import type { Field, Fields } from './fields.ts';

/** Of every empty list and map, and no one can put anything in: thousands of objects share them. */
export const NO_ELEMENTS: readonly unknown[] = Object.freeze([]);
export const NO_ENTRIES: Readonly<Record<string, string>> = Object.freeze({});

/** The value of a field that isn't there. Objects share it, so that what says nothing takes no memory. */
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
    case 'json':
      return undefined;
  }
}

const zeros = new WeakMap<Fields, object>();

/** A message that says nothing, the same one each time. */
export function zeroMessage(fields: Fields): object {
  const known = zeros.get(fields);
  if (known !== undefined) return known;
  const zero = Object.freeze(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, zeroOf(field)])));
  zeros.set(fields, zero);
  return zero;
}
