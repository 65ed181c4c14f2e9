import { ApiError } from './status.ts';

/** The two ways in which an object is written down. */
export type Encoding = 'json' | 'protobuf';

const contentTypes: Readonly<Record<Encoding, string>> = {
  json: 'application/json',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

/**
 * The first media type of an Accept header that can be served. Those with `as=` (tables, bare metadata) can't, which
 * kubectl expects of old servers and goes on to the next.
 *
 * @throws {ApiError} 406 when there is none
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
