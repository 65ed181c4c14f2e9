import type { Field, Fields } from './fields.ts';

/** The value of a field that isn't there: a new object each time, as the decoders fill it in place. */
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
      return {};
    case 'strings':
    case 'messages':
      return [];
    case 'message':
      return zeroMessage(field.fields);
    case 'optionalBool':
    case 'optionalInt':
    case 'json':
      return undefined;
  }
}

function zeroMessage(fields: Fields): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const name in fields) object[name] = zeroOf(fields[name]!);
  return object;
}
