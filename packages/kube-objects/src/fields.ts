/**
 * A kind is described once, by the table of the fields that we want of it: each has its JSON name (the key in the
 * table) and its protobuf number (from the kind's `generated.proto`). Both decoders read this one table, and
 * TypeScript derives the type of the result from it. What no table names is never decoded.
 *
 * A missing field has its zero value (`''`, `false`, `0`, `[]`, `{}`), in JSON as in protobuf, so that both paths
 * give equal objects.
 */
export type Field =
  | { readonly type: 'string'; readonly number: number }
  | { readonly type: 'bool'; readonly number: number }
  | { readonly type: 'int'; readonly number: number }
  | { readonly type: 'stringMap'; readonly number: number }
  | { readonly type: 'message'; readonly number: number; readonly fields: Fields }
  | { readonly type: 'messages'; readonly number: number; readonly fields: Fields }
  | { readonly type: 'strings'; readonly number: number }
  | { readonly type: 'json'; readonly number?: undefined };

export type Fields = { readonly [name: string]: Field };

type Value<F extends Field> = F extends { type: 'string' }
  ? string
  : F extends { type: 'bool' }
    ? boolean
    : F extends { type: 'int' }
      ? number
      : F extends { type: 'stringMap' }
        ? { readonly [key: string]: string }
        : F extends { type: 'strings' }
          ? readonly string[]
          : F extends { type: 'message'; fields: infer N extends Fields }
            ? Projected<N>
            : F extends { type: 'messages'; fields: infer N extends Fields }
              ? readonly Projected<N>[]
              : unknown;

/** What is left of an object when it is read through a table: the same shape as in the API reference, but smaller. */
export type Projected<F extends Fields> = { readonly [K in keyof F]: Value<F[K]> };

export const string = (number: number) => ({ type: 'string', number }) as const;
export const bool = (number: number) => ({ type: 'bool', number }) as const;
/** `int32` and `int64`; values beyond 2^53 are refused. */
export const int = (number: number) => ({ type: 'int', number }) as const;
/** `map<string, string>`, as labels and annotations are. */
export const stringMap = (number: number) => ({ type: 'stringMap', number }) as const;
export const strings = (number: number) => ({ type: 'strings', number }) as const;
export const message = <const N extends Fields>(number: number, fields: N) =>
  ({ type: 'message', number, fields }) as const;
export const messages = <const N extends Fields>(number: number, fields: N) =>
  ({ type: 'messages', number, fields }) as const;
/** Kept as it is in JSON, whatever its shape; for custom resources, which have no protobuf. */
export const json = { type: 'json' } as const;
