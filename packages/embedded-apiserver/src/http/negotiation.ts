import { ApiError } from './status.ts';

/** The two encodings of objects. */
export type Encoding = 'json' | 'protobuf';

const contentTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/**
 * The first media type of an Accept header that can be served. Types with `as=` (tables, bare metadata) aren't served:
 * kubectl expects that of old servers and tries its next type.
 *
 * @throws {ApiError} 406 if the header has no such type
 */
export function negotiate(accept: string | undefined, supported: readonly Encoding[]): Encoding {
  for (const range of (accept || '*/*').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (parameters.some((parameter) => parameter.startsWith('as='))) continue;
    if (['*/*', 'application/*', contentTypes.json].includes(type) && supported.includes('json')) return 'json';
    if (type === contentTypes.protobuf && supported.includes('protobuf')) return 'protobuf';
  }
  const types = supported.map((encoding) => contentTypes[encoding]).join(', ');
  throw new ApiError(406, 'NotAcceptable', `only the following media types are accepted: ${types}`);
}
