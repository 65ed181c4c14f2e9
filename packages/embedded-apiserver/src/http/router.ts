import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Behaviour, Call } from './call.ts';
import { create } from '../verbs/create.ts';
import { discover } from './discovery.ts';
import type { Encoder } from './encoder.ts';
import type { Identities } from '../access/identity.ts';
import { jsonEncoder } from './json-encoder.ts';
import { list } from '../verbs/list.ts';
import { negotiate } from './negotiation.ts';
import { openApi } from './openapi.ts';
import { protobufEncoder } from '../protobuf/encoder.ts';
import { authorize } from '../access/rbac.ts';
import { remove, removeCollection } from '../verbs/remove.ts';
import { logEntry, type LoggedRequest } from './request-log.ts';
import { requestInfo, type RequestInfo, type Target } from './request-info.ts';
import type { Resource } from '../kinds/resources.ts';
import { send } from './send.ts';
import { ApiError, badRequest, methodNotAllowed, noResource, notFound } from './status.ts';
import type { Storage } from '../storage/storage.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import { requestToken } from '../access/token-request.ts';
import { patch, update } from '../verbs/update.ts';
import { watch } from '../verbs/watch.ts';

/** What the answers to requests depend on. */
export type Backend = {
  readonly storage: Storage;
  readonly identities: Identities;
  readonly behaviour: Behaviour;
  /** Called once per request, before the client gets the status. */
  readonly log: (request: LoggedRequest) => void;
};

const versionInfo = { major: '1', minor: '34', gitVersion: 'v1.34.2-embedded', platform: 'node' };

/** Answers one request, from authentication to the last byte. */
export async function answer(backend: Backend, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const info = requestInfo(request.method ?? 'GET', request.url ?? '/');
  let userName = '';
  const begin: Call['begin'] = (status, contentType) => {
    backend.log(logEntry({ info, userName, userAgent: request.headers['user-agent'], status }));
    response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-cache, private' });
  };
  try {
    const user = backend.identities.authenticate(request.headers.authorization);
    userName = user.name;
    authorize(backend.storage, user, info);
    const { target } = info;
    if (target && backend.storage.serves(target)) {
      await serveResource({ ...backend, info, request, response, begin }, target);
    } else {
      await servePath(info, backend, response, begin);
    }
  } catch (error) {
    if (response.headersSent) throw error;
    const { status } = error instanceof ApiError ? error : internalError(error);
    const encoder = errorEncoder(backend.behaviour, request.headers.accept);
    begin(status.code, encoder.contentType);
    await send(response, encoder.status(status));
  }
  response.end();
}

/** /version, the health checks, discovery, and the keys that sign tokens. */
async function servePath(
  { path }: RequestInfo,
  { storage: { resources }, identities }: Backend,
  response: ServerResponse,
  begin: Call['begin'],
) {
  if (/^\/(healthz|livez|readyz)$/.test(path)) {
    begin(200, 'text/plain; charset=utf-8');
    return send(response, [Buffer.from('ok')]);
  }
  if (path === '/openid/v1/jwks') {
    begin(200, 'application/jwk-set+json');
    return send(response, [Buffer.from(JSON.stringify({ keys: [{ use: 'sig', kid: identities.signingKeyId }] }))]);
  }
  const found = path === '/version' ? versionInfo : (discover(path, resources) ?? openApi(path, resources));
  if (!found) {
    begin(404, 'text/plain; charset=utf-8');
    return send(response, [Buffer.from('404 page not found\n')]);
  }
  begin(200, jsonEncoder.contentType);
  return send(response, [Buffer.from(JSON.stringify(found))]);
}

type Arrival = Omit<Call, 'target' | 'resource' | 'encoder'>;

/** A request for a resource, or for one of its objects. */
async function serveResource(arrival: Arrival, target: Target): Promise<void> {
  const { storage, behaviour, info, request, response } = arrival;
  const resource = storage.resource(target);
  if (!resource || !hasSubresource(resource, target) || !fitsScope(resource, target)) throw noResource();
  const encoder = encoderFor(resource, behaviour, request.headers.accept);
  // For RBAC, a Namespace is in the namespace of its own name. In storage, it is in none.
  const namespace = resource.namespaced ? target.namespace : '';
  const call: Call = { ...arrival, target: { ...target, namespace }, resource, encoder };
  if (info.verb === 'watch') return watch(call);
  const { status, body } = await respond(call);
  arrival.begin(status, encoder.contentType);
  return send(response, body);
}

type Reply = { readonly status: number; readonly body: Iterable<Uint8Array> };

async function respond(call: Call): Promise<Reply> {
  const { resource, target, info, encoder, storage } = call;
  const one = (object: StoredObject, status = 200): Reply => ({ status, body: encoder.object(resource, object) });
  const json = (value: object, status = 200): Reply => ({ status, body: [Buffer.from(JSON.stringify(value))] });
  if (!resource.verbs.includes(info.verb)) throw methodNotAllowed();
  if (info.query.has('dryRun') && !['create', 'update', 'patch'].includes(info.verb))
    throw badRequest('the embedded server has dry runs of a deletion in its body only');
  switch (info.verb) {
    case 'get': {
      const object = storage.collection(resource).get(target.namespace, target.name);
      if (!object) throw notFound({ ...resource, name: target.name });
      return one(object);
    }
    case 'list': {
      const { metadata, items } = await list(call);
      return { status: 200, body: encoder.list(resource, metadata, items) };
    }
    case 'create':
      if (target.subresource === 'token') return json(await requestToken(call), 201);
      if (target.name !== '' || (resource.namespaced && target.namespace === '')) throw methodNotAllowed();
      return one(await create(call), 201);
    case 'update': {
      const { created, object } = await update(call);
      return one(object, created ? 201 : 200);
    }
    case 'patch':
      return one(await patch(call));
    case 'delete': {
      const deletion = await remove(call);
      return 'object' in deletion ? one(deletion.object) : json(deletion.success);
    }
    case 'deletecollection': {
      const metadata = { resourceVersion: String(storage.clock.revision) };
      return { status: 200, body: encoder.list(resource, metadata, await removeCollection(call)) };
    }
    default:
      throw methodNotAllowed();
  }
}

/** Whether the path has a namespace if, and only if, the kind is namespaced. */
function fitsScope({ namespaced, plural }: Resource, { namespace, name }: Target): boolean {
  if (namespaced) return namespace !== '' || name === '';
  return namespace === '' || plural === 'namespaces';
}

function hasSubresource(resource: Resource, { subresource }: Target): boolean {
  if (subresource === 'status') return resource.statusSubresource;
  return subresource === '' || (subresource === 'token' && resource.plural === 'serviceaccounts');
}

function encoderFor(resource: Resource, { jsonOnly }: Behaviour, accept: string | undefined): Encoder {
  const speaksProtobuf = resource.protobuf !== undefined && !jsonOnly;
  const encoding = negotiate(accept, speaksProtobuf ? ['json', 'protobuf'] : ['json']);
  return encoding === 'protobuf' ? protobufEncoder : jsonEncoder;
}

/** Errors can be protobuf for any resource. Clients that accept neither encoding get JSON. */
function errorEncoder({ jsonOnly }: Behaviour, accept: string | undefined): Encoder {
  try {
    return negotiate(accept, jsonOnly ? ['json'] : ['json', 'protobuf']) === 'protobuf' ? protobufEncoder : jsonEncoder;
  } catch {
    // The first error is more useful to the client than a 406.
    return jsonEncoder;
  }
}

function internalError(error: unknown): ApiError {
  return new ApiError(500, 'InternalError', error instanceof Error ? (error.stack ?? error.message) : String(error));
}
