import type { IncomingMessage } from 'node:http';
import type { Connection } from '@kube-semaphore/cluster-auth';
import {
  type Codec,
  type Kind,
  type KubeObject,
  type Page,
  parseJson,
  resourcePath,
  TooLargeError,
} from '@kube-semaphore/kube-objects';
import { errorOf, isProtobuf, PROTOBUF, readBody } from './body.ts';
import { BodyTooLargeError, ConnectionError } from './errors.ts';
import { type Exchange, send } from './transport.ts';
import { WatchStream } from './watch-stream.ts';

const JSON_TYPE = 'application/json';
const MERGE_PATCH = 'application/merge-patch+json';

/** 500 Pods of 15 kB are half of it; of larger ones, smaller pages are asked for. It is held twice while it is put together. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const MAX_OBJECT_BYTES = 8 * 1024 * 1024;
/** What isn't answered by then won't be; a page of 16 MiB over a slow line is the longest that there is. */
const REQUEST_TIMEOUT_MS = 60_000;

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** One request, once its answer's head is there or it failed. `code` is the HTTP status, or `''` without an answer. */
export type RequestReport = {
  verb: Verb;
  method: string;
  host: string;
  resource: string;
  code: string;
  seconds: number;
};

export type RunOptions = { readonly signal: AbortSignal };

/** `beforeSend` is called right before a write is sent, and stops it by what it throws: to check that we still lead. */
export type WriteOptions = RunOptions & { readonly beforeSend?: () => void };

type Selection = { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string };

export type ListOptions = RunOptions & Selection & { readonly limit?: number; readonly continue?: string };

export type WatchOptions = RunOptions &
  Selection & {
    /** Where to go on; left out with `sendInitialEvents`. */
    readonly resourceVersion?: string;
    /** WatchList (KEP-3157): what exists first, then a bookmark, then what changes. */
    readonly sendInitialEvents?: boolean;
    readonly timeoutSeconds: number;
    readonly idleTimeoutMs: number;
  };

/** What a write sends: any JSON with the metadata that names the object. */
export type Writable = { readonly metadata: { readonly name: string; readonly namespace?: string } };

export type KubeClientOptions = {
  readonly connection: Connection;
  readonly userAgent: string;
  /** `json` asks for JSON only, for something between us and the API server that passes no protobuf. */
  readonly encoding?: 'auto' | 'json';
  /** A request other than a watch that brings no byte for so long has failed. */
  readonly idleTimeoutMs?: number;
  readonly onRequest?: (report: RequestReport) => void;
};

/**
 * The verbs of one API server. All of them reject with KubeApiError when the server answers with an error,
 * ConnectionError when it doesn't answer, DecodeError when the answer isn't what was asked for, and with the
 * signal's reason when that is aborted. None is retried here.
 */
export class KubeClient {
  readonly #options: KubeClientOptions;

  constructor(options: KubeClientOptions) {
    this.#options = options;
  }

  /** One page of at most `limit` objects. @throws BodyTooLargeError beyond 16 MiB, or 32 MiB of memory */
  async list<K extends Kind>(codec: Codec<K>, options: ListOptions): Promise<Page<KubeObject<K>>> {
    const { kind } = codec;
    const query = { ...selectors(options), limit: options.limit, continue: options.continue };
    return this.#request(
      'list',
      kind,
      { ...options, query, accept: this.#accept(kind), maxBytes: MAX_PAGE_BYTES },
      (body, response) => {
        try {
          return isProtobuf(response) ? codec.pageFromProtobuf(body) : codec.pageFromJson(parseJson(body));
        } catch (error) {
          throw error instanceof TooLargeError ? new BodyTooLargeError(error.message, { cause: error }) : error;
        }
      },
    );
  }

  /** Resolves once the server has accepted the watch. */
  async watch<K extends Kind>(codec: Codec<K>, options: WatchOptions): Promise<WatchStream<K>> {
    const { kind } = codec;
    const query = {
      ...selectors(options),
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds: options.timeoutSeconds,
      resourceVersion: options.resourceVersion,
      ...(options.sendInitialEvents === true && { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }),
    };
    const { signal, idleTimeoutMs } = options;
    const accept = this.#accept(kind, ';stream=watch');
    const path = resourcePath(kind, options) + toQuery(query);
    const response = await this.#send('watch', kind, {
      method: 'GET',
      path,
      headers: { accept },
      signal,
      idleTimeoutMs,
    });
    const stream = new WatchStream(response, codec, this.#options.connection.server);
    stream.setIdleTimeout(idleTimeoutMs);
    return stream;
  }

  async get<K extends Kind>(
    codec: Codec<K>,
    { namespace, name, signal }: RunOptions & { namespace?: string; name: string },
  ): Promise<KubeObject<K>> {
    const at = namespace === undefined ? { name } : { namespace, name };
    return this.#request('get', codec.kind, { ...at, signal }, (body) => codec.objectFromJson(parseJson(body)));
  }

  /** A path that is no resource, such as `/apis`. @param accept a media type that is JSON */
  async getRaw(
    path: string,
    { signal, accept = JSON_TYPE }: RunOptions & { readonly accept?: string },
  ): Promise<unknown> {
    const raw = { group: '', version: '', kind: path, plural: path, protobuf: false } as unknown as Kind;
    return this.#request('get', raw, { path, signal, accept }, (body) => parseJson(body));
  }

  /** @param dryRun the server does everything but store it */
  async create<K extends Kind>(
    codec: Codec<K>,
    object: Writable,
    { dryRun = false, ...options }: WriteOptions & { readonly dryRun?: boolean },
  ): Promise<KubeObject<K>> {
    const { namespace } = object.metadata;
    const at = { ...(namespace !== undefined && { namespace }), ...(dryRun && { query: { dryRun: 'All' } }) };
    return this.#request('create', codec.kind, { ...at, ...options, body: withType(codec.kind, object) }, (body) =>
      codec.objectFromJson(parseJson(body)),
    );
  }

  /** PUT; `metadata.resourceVersion` in the object makes it fail with 409 on anything newer. */
  async update<K extends Kind>(codec: Codec<K>, object: Writable, options: WriteOptions): Promise<KubeObject<K>> {
    const { namespace, name } = object.metadata;
    const at = namespace === undefined ? { name } : { namespace, name };
    return this.#request('update', codec.kind, { ...at, ...options, body: withType(codec.kind, object) }, (body) =>
      codec.objectFromJson(parseJson(body)),
    );
  }

  /** A merge patch (RFC 7386): what isn't in it stays as it is, and null takes a field away. 404 if the object isn't there. */
  async patch<K extends Kind>(
    codec: Codec<K>,
    patch: object,
    { namespace, name, ...options }: WriteOptions & { namespace?: string; name: string },
  ): Promise<KubeObject<K>> {
    const at = namespace === undefined ? { name } : { namespace, name };
    const body = { body: JSON.stringify(patch), contentType: MERGE_PATCH };
    return this.#request('patch', codec.kind, { ...at, ...options, ...body }, (answer) =>
      codec.objectFromJson(parseJson(answer)),
    );
  }

  /**
   * Deletes just the object that was seen: another UID or a newer resourceVersion is 409. With `Orphan` what it owns
   * stays, and the object itself is there until the garbage collector has seen to that.
   */
  async delete(
    { kind }: { readonly kind: Kind },
    {
      namespace,
      name,
      uid,
      resourceVersion,
      propagationPolicy,
      ...options
    }: WriteOptions & {
      namespace?: string;
      name: string;
      uid: string;
      resourceVersion: string;
      propagationPolicy?: 'Orphan';
    },
  ): Promise<void> {
    const at = namespace === undefined ? { name } : { namespace, name };
    const body = JSON.stringify({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid, resourceVersion },
      propagationPolicy,
    });
    await this.#request('delete', kind, { ...at, ...options, body }, () => undefined);
  }

  async #request<T>(
    verb: Verb,
    kind: Kind,
    {
      signal,
      beforeSend,
      path,
      query = {},
      accept = JSON_TYPE,
      maxBytes = MAX_OBJECT_BYTES,
      body,
      contentType = JSON_TYPE,
      ...at
    }: RequestOptions,
    decode: (body: Buffer, response: IncomingMessage) => T,
  ): Promise<T> {
    const timeout = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const exchange: Exchange = {
      method: METHODS[verb],
      path: path ?? resourcePath(kind, at) + toQuery(query),
      headers: body === undefined ? { accept } : { accept, 'content-type': contentType },
      body,
      idleTimeoutMs: this.#options.idleTimeoutMs ?? 15_000,
      signal: AbortSignal.any([signal, timeout]),
      beforeSend,
    };
    const { server } = this.#options.connection;
    try {
      const response = await this.#send(verb, kind, exchange);
      return decode(await readBody(response, maxBytes, server), response);
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted)
        throw new ConnectionError(
          `${server.host}: no answer to ${verb} ${kind.plural} within ${REQUEST_TIMEOUT_MS} ms`,
        );
      throw error;
    }
  }

  async #send(verb: Verb, kind: Kind, exchange: Exchange): Promise<IncomingMessage> {
    const { connection, userAgent, onRequest } = this.#options;
    const started = performance.now();
    let code = '';
    try {
      const response = await send(connection, {
        ...exchange,
        headers: { ...exchange.headers, 'user-agent': userAgent },
      });
      code = String(response.statusCode);
      if (response.statusCode! >= 300)
        throw await errorOf(response, `${verb} ${kind.plural} at ${connection.server.host}`, connection.server);
      return response;
    } finally {
      const seconds = (performance.now() - started) / 1000;
      onRequest?.({
        verb,
        method: exchange.method,
        host: connection.server.host,
        resource: kind.plural,
        code,
        seconds,
      });
    }
  }

  #accept({ protobuf }: Kind, parameters = ''): string {
    return protobuf && this.#options.encoding !== 'json'
      ? `${PROTOBUF}${parameters}, application/json`
      : 'application/json';
  }
}

type RequestOptions = {
  signal: AbortSignal;
  beforeSend?: () => void;
  namespace?: string;
  name?: string;
  path?: string;
  query?: Query;
  accept?: string;
  maxBytes?: number;
  body?: string;
  contentType?: string;
};

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

const METHODS = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
} as const;

const selectors = ({ labelSelector, fieldSelector }: Selection): Query => ({ labelSelector, fieldSelector });

function toQuery(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  return parameters.size === 0 ? '' : `?${parameters.toString()}`;
}

const withType = ({ group, version, kind }: Kind, object: Writable): string =>
  JSON.stringify({ apiVersion: group === '' ? version : `${group}/${version}`, kind, ...object });
