/**
 * One table describes the fields that we read of a kind. A field has its JSON name (the key in the table) and its
 * protobuf number (from the kind's `generated.proto`). Both decoders use this table, and TypeScript derives the type of
 * the result from it. Other fields are never decoded.
 *
 * A missing field has its zero value (`''`, `false`, `0`, `[]`, `{}`) in both encodings, so that both decoders return equal
 * objects. Where the API distinguishes a missing field from a zero one, the field is optional, and `undefined` if it is
 * missing.
 *
 * `atMost` limits the bytes of a text or the elements of a list: it is more than the API server stores, or more than
 * anybody has. An object that exceeds it isn't read, and doesn't affect its neighbours.
 */
export type Field =
  | { readonly type: 'string'; readonly number: number; readonly atMost: number }
  | { readonly type: 'bool'; readonly number: number }
  | { readonly type: 'int'; readonly number: number }
  | { readonly type: 'optionalBool'; readonly number: number }
  | { readonly type: 'optionalInt'; readonly number: number }
  | { readonly type: 'intOrString'; readonly number: number }
  | { readonly type: 'time'; readonly number: number }
  | { readonly type: 'stringMap'; readonly number: number; readonly only: string | undefined }
  | { readonly type: 'message'; readonly number: number; readonly fields: Fields }
  | { readonly type: 'optionalMessage'; readonly number: number; readonly fields: Fields }
  | { readonly type: 'messages'; readonly number: number; readonly fields: Fields; readonly atMost: number }
  | { readonly type: 'strings'; readonly number: number; readonly atMost: number }
  | { readonly type: 'json'; readonly number?: undefined; readonly depth: number; readonly atMost: number };

export type Fields = { readonly [name: string]: Field };

/** Values of the fields without nested fields. */
type PlainValues = {
  readonly string: string;
  readonly bool: boolean;
  readonly int: number;
  readonly optionalBool: boolean | undefined;
  readonly optionalInt: number | undefined;
  readonly intOrString: number | string;
  readonly time: number;
  readonly stringMap: { readonly [key: string]: string };
  readonly strings: readonly string[];
  readonly json: unknown;
};

type Value<F extends Field> = F extends { type: 'message'; fields: infer N extends Fields }
  ? Projected<N>
  : F extends { type: 'optionalMessage'; fields: infer N extends Fields }
    ? Projected<N> | undefined
    : F extends { type: 'messages'; fields: infer N extends Fields }
      ? readonly Projected<N>[]
      : F extends { type: infer T extends keyof PlainValues }
        ? PlainValues[T]
        : never;

/** An object with only the fields of a table, in the shape of the API reference. */
export type Projected<F extends Fields> = { readonly [K in keyof F]: Value<F[K]> };

/** In bytes: names have at most 253, label values 63, UIDs 36. */
export const LONGEST_TEXT = 1024;
/** In bytes: the limit of all annotations of an object (TotalAnnotationSizeLimitB in k8s.io/apimachinery/pkg/api/validation). */
export const LONGEST_MAP_VALUE = 256 * 1024;
/** The limit of an EndpointSlice's endpoints, the longest list that the API server limits. */
const MOST_ELEMENTS = 1000;

/** @param atMost bytes */
export const string = (number: number, atMost: number = LONGEST_TEXT) => ({ type: 'string', number, atMost }) as const;
export const bool = (number: number) => ({ type: 'bool', number }) as const;
/** `int32` and `int64`; values beyond 2^53 are refused. */
export const int = (number: number) => ({ type: 'int', number }) as const;
/** A boolean with a third state, as the conditions of endpoints are: `undefined` is neither. */
export const optionalBool = (number: number) => ({ type: 'optionalBool', number }) as const;
export const optionalInt = (number: number) => ({ type: 'optionalInt', number }) as const;
/** `IntOrString`, as targetPort is: `8080` or `'http'`. */
export const intOrString = (number: number) => ({ type: 'intOrString', number }) as const;
/** `metav1.Time`, in milliseconds since 1970; 0 if it is missing. */
export const time = (number: number) => ({ type: 'time', number }) as const;
/**
 * `map<string, string>`, as labels and annotations are. A key may be as long as a `string`, a value has 256 KiB at most.
 *
 * @param only the key of the one entry that is read
 */
export const stringMap = (number: number, only?: string) => ({ type: 'stringMap', number, only }) as const;
/** @param atMost elements, each of which may be as long as a `string` */
export const strings = (number: number, atMost: number = MOST_ELEMENTS) =>
  ({ type: 'strings', number, atMost }) as const;
export const message = <const N extends Fields>(number: number, fields: N) =>
  ({ type: 'message', number, fields }) as const;
/** A message that may be missing, which isn't the same as empty: a selector, for example. */
export const optionalMessage = <const N extends Fields>(number: number, fields: N) =>
  ({ type: 'optionalMessage', number, fields }) as const;
/** @param atMost elements */
export const messages = <const N extends Fields>(number: number, fields: N, atMost: number = MOST_ELEMENTS) =>
  ({ type: 'messages', number, fields, atMost }) as const;
/**
 * Any JSON, for custom resources, which have no protobuf: nested at most 3 levels deep, with more than twice the addresses of
 * Calico's largest block (/20, /116). Comparing or writing a value recurses. Nested arrays take 28 times their text in
 * memory, and the 3 bytes of each `{}` take 64.
 */
export const json = { type: 'json', depth: 3, atMost: 10_000 } as const;
/** Any JSON that is as large as the spec of a policy that we write: 10,000 addresses, or 100 rules of 100 ports. */
export const deepJson = { type: 'json', depth: 12, atMost: 50_000 } as const;
