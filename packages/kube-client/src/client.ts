import type { IncomingMessage } from 'node:http';
import type { Connection, Validity } from '@kube-semaphore/cluster-auth';
import {
  apiVersion,
  type Codec,
  type Kind,
  type KubeObject,
  type Page,
  parseJson,
  resourcePath,
  TooLargeError,
} from '@kube-semaphore/kube-objects';
import { errorOf, isProtobuf, PROTOBUF, readBody } from './body.ts';
import { BodyTooLargeError, ConnectionError, IdleTimeoutError } from './errors.ts';
import { type Exchange, send } from './transport.ts';
import { WatchStream } from './watch-stream.ts';

const JSON_TYPE = 'application/json';
const MERGE_PATCH = 'application/merge-patch+json';

/** Twice a page of 500 Pods of 15 kB; of larger objects, smaller pages are requested. It is held twice while it is assembled. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const MAX_OBJECT_BYTES = 8 * 1024 * 1024;
/** Enough for the longest answer: a page of 16 MiB over a slow line. */
const REQUEST_TIMEOUT_MS = 60_000;

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete';

/** One request, reported when its answer's head arrives or it fails. `code` is the HTTP status, or `''` without an answer. */
export type RequestReport = {
  verb: Verb;
  method: string;
  host: string;
  resource: string;
  code: string;
  seconds: number;
};

export type RunOptions = { readonly signal: AbortSignal };

/**
 * `beforeSend` is called right before a write is sent, and stops it if it throws: to check that we still lead. With `dryRun`, the
 * server does everything except store the result.
 */
export type WriteOptions = RunOptions & { readonly beforeSend?: () => void; readonly dryRun?: boolean };

type ObjectName = { readonly namespace?: string | undefined; readonly name: string };

type Selection = { readonly namespace?: string; readonly labelSelector?: string; readonly fieldSelector?: string };

export type ListOptions = RunOptions & Selection & { readonly limit?: number; readonly continue?: string };

export type WatchOptions = RunOptions &
  Selection & {
    /** The version after which the watch begins; not used with `sendInitialEvents`. */
    readonly resourceVersion?: string;
    /** WatchList (KEP-3157): what exists first, then a bookmark, then what changes. */
    readonly sendInitialEvents?: boolean;
    readonly timeoutSeconds: number;
    readonly idleTimeoutMs: number;
  };

/** What a write sends: any JSON with the metadata that names the object. */
export type Writable = { readonly metadata: ObjectName };

export type KubeClientOptions = {
  readonly connection: Connection;
  readonly userAgent: string;
  /** `json` requests JSON only, for a proxy before the API server that passes no protobuf. */
  readonly encoding?: 'auto' | 'json';
  /** A request other than a watch fails if no byte arrives for this long. Default: 15 s. */
  readonly idleTimeoutMs?: number;
  readonly onRequest?: (report: RequestReport) => void;
};

/**
 * The verbs of one API server. Each rejects with KubeApiError if the server answers with an error, ConnectionError or
 * IdleTimeoutError if it doesn't answer, DecodeError if the answer doesn't match the request, and with the signal's
 * reason if that is aborted. The caller retries.
 */
export class KubeClient {
  readonly #options: KubeClientOptions;

  constructor(options: KubeClientOptions) {
    this.#options = options;
  }

  /** When its credentials are valid, as the connection says. */
  get validity(): Validity | undefined {
    return this.#options.connection.validity;
  }

  /** As the connection's: what was read before it was aborted may be of another cluster. */
  get sameServer(): AbortSignal | undefined {
    return this.#options.connection.sameServer;
  }

  /** One page of at most `limit` objects. @throws BodyTooLargeError beyond 16 MiB, or 32 MiB of memory */
  list<K extends Kind>(codec: Codec<K>, options: ListOptions): Promise<Page<KubeObject<K>>> {
    const { kind } = codec;
    const query = { ...selectors(options), limit: options.limit, continue: options.continue };
    const request = { signal: options.signal, accept: this.#accept(kind), maxBytes: MAX_PAGE_BYTES };
    return this.#request('list', targetOf(kind, options, query), request, (body, response) => {
      try {
        return isProtobuf(response) ? codec.pageFromProtobuf(body) : codec.pageFromJson(parseJson(body));
      } catch (error) {
        throw error instanceof TooLargeError ? new BodyTooLargeError(error.message, { cause: error }) : error;
      }
    });
  }

  /** Resolves once the server has accepted the watch. */
  async watch<K extends Kind>(codec: Codec<K>, options: WatchOptions): Promise<WatchStream<K>> {
    const { kind } = codec;
    const { signal, idleTimeoutMs, timeoutSeconds, resourceVersion, sendInitialEvents } = options;
    const query = {
      ...selectors(options),
      watch: true,
      allowWatchBookmarks: true,
      timeoutSeconds,
      resourceVersion,
      ...(sendInitialEvents === true && { sendInitialEvents, resourceVersionMatch: 'NotOlderThan' }),
    };
    const headers = { accept: this.#accept(kind, ';stream=watch') };
    const target = targetOf(kind, options, query);
    const late = new IdleTimeoutError(`${this.#options.connection.server.host} sent no head for ${idleTimeoutMs} ms`);
    const response = await headInTime(late, { ms: idleTimeoutMs, signal }, (until, beforeSend) =>
      this.#send('watch', target, { headers, signal: until, idleTimeoutMs, beforeSend }),
    );
    const stream = new WatchStream(response, codec, this.#options.connection.server);
    stream.setIdleTimeout(idleTimeoutMs);
    return stream;
  }

  get<K extends Kind>(codec: Codec<K>, options: RunOptions & ObjectName): Promise<KubeObject<K>> {
    return this.#request('get', targetOf(codec.kind, options), options, objectOf(codec));
  }

  /** The JSON of a path that is not a resource, such as `/apis`. @param accept a media type that is JSON */
  getRaw(path: string, { signal, accept = JSON_TYPE }: RunOptions & { readonly accept?: string }): Promise<unknown> {
    return this.#request('get', { resource: path, path }, { signal, accept }, (body) => parseJson(body));
  }

  create<K extends Kind>(codec: Codec<K>, object: Writable, options: WriteOptions): Promise<KubeObject<K>> {
    const { namespace } = object.metadata;
    const target = targetOf(codec.kind, { namespace }, dryRunOf(options));
    return this.#request('create', target, { ...options, body: withType(codec.kind, object) }, objectOf(codec));
  }

  /** Replaces an object. With `metadata.resourceVersion`, it fails with 409 if the stored object is newer. */
  update<K extends Kind>(codec: Codec<K>, object: Writable, options: WriteOptions): Promise<KubeObject<K>> {
    const request = { ...options, body: withType(codec.kind, object) };
    const target = targetOf(codec.kind, object.metadata, dryRunOf(options));
    return this.#request('update', target, request, objectOf(codec));
  }

  /**
   * A merge patch (RFC 7386): a missing field stays as it is, and null removes a field. 404 if the object doesn't exist.
   *
   * @param subresource the part of the object that the patch may change; default: all except its status
   */
  patch<K extends Kind>(
    codec: Codec<K>,
    patch: object,
    { subresource, ...options }: WriteOptions & ObjectName & { readonly subresource?: 'status' },
  ): Promise<KubeObject<K>> {
    const request = { ...options, body: JSON.stringify(patch), contentType: MERGE_PATCH };
    const target = targetOf(codec.kind, { ...options, subresource }, dryRunOf(options));
    return this.#request('patch', target, request, objectOf(codec));
  }

  /**
   * Deletes only the object that was seen: another UID or a newer resourceVersion is 409. With `Orphan`, the objects
   * that it owns stay, and the object itself exists until the garbage collector has released them.
   */
  async delete(
    { kind }: { readonly kind: Kind },
    {
      uid,
      resourceVersion,
      propagationPolicy,
      ...options
    }: WriteOptions & ObjectName & { uid: string; resourceVersion: string; propagationPolicy?: 'Orphan' },
  ): Promise<void> {
    const preconditions = { uid, resourceVersion };
    // With a body, the server reads no option from the query.
    const dryRun = options.dryRun === true ? ['All'] : undefined;
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy, dryRun });
    await this.#request('delete', targetOf(kind, options), { ...options, body }, () => undefined);
  }

  async #request<T>(
    verb: Verb,
    target: Target,
    { signal, beforeSend, accept = JSON_TYPE, maxBytes = MAX_OBJECT_BYTES, body, contentType }: RequestOptions,
    decode: (body: Buffer, response: IncomingMessage) => T,
  ): Promise<T> {
    const { server } = this.#options.connection;
    // `AbortSignal.any` and `AbortSignal.timeout` need finalizers, which cost more than the rest of a small request.
    const aborter = new AbortController();
    const abort = (): void => aborter.abort();
    const timer = setTimeout(abort, REQUEST_TIMEOUT_MS).unref();
    signal.addEventListener('abort', abort, { once: true });
    try {
      signal.throwIfAborted();
      const response = await this.#send(verb, target, {
        headers: { accept, ...(body !== undefined && { 'content-type': contentType ?? JSON_TYPE }) },
        body,
        idleTimeoutMs: this.#options.idleTimeoutMs ?? 15_000,
        signal: aborter.signal,
        beforeSend,
      });
      return decode(await readBody(response, maxBytes, server), response);
    } catch (error) {
      signal.throwIfAborted();
      if (!aborter.signal.aborted) throw error;
      const message = `${server.host}: no answer to ${verb} ${target.resource} within ${REQUEST_TIMEOUT_MS} ms`;
      throw new ConnectionError(message);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  async #send(
    verb: Verb,
    { resource, path }: Target,
    exchange: Omit<Exchange, 'method' | 'path'>,
  ): Promise<IncomingMessage> {
    const { connection, userAgent, onRequest } = this.#options;
    const { host } = connection.server;
    const method = METHODS[verb];
    const startedMs = performance.now();
    let code = '';
    try {
      const headers = { ...exchange.headers, 'user-agent': userAgent };
      const response = await send(connection, { ...exchange, method, path, headers });
      code = String(response.statusCode);
      if (response.statusCode! < 300) return response;
      throw await errorOf(response, `${verb} ${resource} at ${host}`, connection.server);
    } finally {
      const seconds = (performance.now() - startedMs) / 1000;
      onRequest?.({ verb, method, host, resource, code, seconds });
    }
  }

  #accept({ protobuf }: Kind, parameters = ''): string {
    return protobuf && this.#options.encoding !== 'json' ? `${PROTOBUF}${parameters}, ${JSON_TYPE}` : JSON_TYPE;
  }
}

/**
 * The response whose head, or whose refusal, comes within `ms` after the request was sent: a plugin, an address that doesn't answer,
 * and TLS have times of their own. Its body is aborted by `signal` later, too. The socket's own timer isn't enough: a server that sends
 * a head byte by byte would keep it from firing, and the reflector would hang.
 */
async function headInTime(
  late: Error,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  sent: (until: AbortSignal, beforeSend: () => void) => Promise<IncomingMessage>,
): Promise<IncomingMessage> {
  const aborter = new AbortController();
  const abort = (): void => aborter.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  let timer: NodeJS.Timeout | undefined;
  const beforeSend = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => aborter.abort(late), ms).unref();
  };
  const leave = (): void => signal.removeEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    const response = await sent(aborter.signal, beforeSend);
    if (response.closed) leave();
    return response.once('close', leave);
  } catch (error) {
    leave();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** What a request is for: the resource as metrics name it, and the path with its query. */
type Target = { readonly resource: string; readonly path: string };

type RequestOptions = WriteOptions & {
  readonly accept?: string;
  readonly maxBytes?: number;
  readonly body?: string;
  readonly contentType?: string;
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

const dryRunOf = ({ dryRun = false }: WriteOptions): Query => ({ dryRun: dryRun ? 'All' : undefined });

const selectors = ({ labelSelector, fieldSelector }: Selection): Query => ({ labelSelector, fieldSelector });

type Place = Partial<ObjectName> & { readonly subresource?: string | undefined };

function targetOf(kind: Kind, { subresource, ...at }: Place, query: Query = {}): Target {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, String(value));
  const part = subresource === undefined ? '' : `/${subresource}`;
  const suffix = parameters.size === 0 ? '' : `?${parameters.toString()}`;
  return { resource: kind.plural, path: resourcePath(kind, at) + part + suffix };
}

const withType = (kind: Kind, object: Writable): string =>
  JSON.stringify({ apiVersion: apiVersion(kind), kind: kind.kind, ...object });

const objectOf =
  <K extends Kind>(codec: Codec<K>) =>
  (body: Buffer): KubeObject<K> =>
    codec.objectFromJson(parseJson(body));
