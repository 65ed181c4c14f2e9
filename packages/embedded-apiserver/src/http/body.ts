import type { IncomingMessage } from 'node:http';
import { apiVersion, type Resource } from '../kinds/resources.ts';
import { ApiError, badRequest, unexpected } from './status.ts';
import type { KubeObject } from '../test-cluster.ts';

/** kube-apiserver's limit for the body of a request. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

/** The JSON of a request's body; undefined without a body. @throws {ApiError} 400 if it isn't JSON, 413 over 3 MiB */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Reads to the end, because a client reads the answer only after it has sent its body.
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (bytes > MAX_BODY_BYTES) {
    throw new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`);
  }
  if (bytes === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${String(error)}`);
  }
}

/** The object in the body of a POST or PUT. @throws {ApiError} 400 if it isn't an object, 415 if it isn't JSON */
export async function readBody(request: IncomingMessage): Promise<object> {
  const type = request.headers['content-type']?.split(';')[0] ?? 'application/json';
  if (type !== 'application/json') throw unsupportedMediaType(['application/json']);
  const body = await readJson(request);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequest('the body must be an object');
  return body;
}

/** The object in the body, as one of a resource. @throws {ApiError} 400 if the object is of another kind */
export async function readObject(request: IncomingMessage, resource: Resource): Promise<KubeObject> {
  const object: Partial<KubeObject> = await readBody(request);
  checkKind(object, resource);
  const { resourceVersion = '' } = object.metadata ?? {};
  if (!/^\d*$/.test(resourceVersion))
    throw unexpected(`strconv.ParseUint: parsing "${resourceVersion}": invalid syntax`);
  return withoutNulls({ ...object, metadata: { ...object.metadata } } as KubeObject, resource);
}

/**
 * Go reads a field that is null as one that is absent, and writes one kind of time that is absent as null. What null means
 * in a custom resource, its schema says.
 */
export function withoutNulls(object: KubeObject, { custom }: Resource): KubeObject {
  if (custom) return object;
  const isRead = (key: string, value: unknown) => value !== null || key === 'lastProbeTime';
  return JSON.parse(JSON.stringify(object), (key, value: unknown) =>
    isRead(key, value) ? value : undefined,
  ) as KubeObject;
}

/** @throws {ApiError} 400 if the object says that it is of another kind */
export function checkKind(object: Partial<KubeObject>, resource: Resource): void {
  // Objects of built-in types may omit their kind.
  if (resource.custom && !object.kind) throw badRequest("Object 'Kind' is missing");
  const expected = apiVersion(resource);
  if ((object.apiVersion ?? expected) !== expected) {
    throw badRequest(
      `the API version in the data (${object.apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if ((object.kind ?? resource.kind) !== resource.kind) {
    throw badRequest(`${object.kind} in version "${resource.version}" cannot be handled as a ${resource.kind}`);
  }
}

/** The error for a body in a format that isn't `accepted`. */
export const unsupportedMediaType = (accepted: readonly string[]): ApiError =>
  new ApiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
