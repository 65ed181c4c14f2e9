import { ApiError, type Encoder, jsonEncoder, negotiate, protobufEncoder } from '@kube-semaphore/embedded-apiserver';
import { Dice } from './dice.ts';
import type { Fault, FaultOf } from './fault.ts';

/** An answer that the proxy gives in the API server's place. */
export type StandIn = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Iterable<Uint8Array>;
  /** Whether the answer stays open after the body. */
  readonly hangs?: boolean;
};

/** The request that a stand-in answers. */
export type Asked = { readonly target: string; readonly verb: string; readonly accept: string | undefined };

/** A fault's answer in the API server's place; undefined if the API server answers. */
export function standIn(fault: Fault, asked: Asked): StandIn | undefined {
  switch (fault.kind) {
    case 'answer': {
      const { status, body } = fault;
      if (body === undefined) return statusAnswer(fault, asked);
      return { status, headers: { 'content-type': 'application/json' }, body: [Buffer.from(JSON.stringify(body))] };
    }
    case 'garbage':
      return garbage(fault, asked);
    case 'redirect':
      return { status: 307, headers: { location: fault.to + asked.target }, body: [] };
    default:
      return undefined;
  }
}

/** kube-apiserver's reasons by status code; for 410, the reason that a watch gets. */
const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

function statusAnswer({ status, message, retryAfterSeconds, as }: FaultOf<'answer'>, asked: Asked): StandIn {
  const { accept, verb, target } = asked;
  const reason = reasons[status] ?? '';
  const words =
    status === 403
      ? `forbidden: User "of-the-fault-proxy" cannot ${verb} path "${target}"`
      : `the fault proxy answers ${status} ${reason}`;
  const details = retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } };
  const body = new ApiError(status, reason, message ?? words, details).status;
  const encoder = encoderFor(accept);
  if (as === 'event') {
    return { status: 200, headers: { 'content-type': encoder.watchContentType }, body: encoder.error(body) };
  }
  const retryAfter = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  return { status, headers: { 'content-type': encoder.contentType, ...retryAfter }, body: encoder.status(body) };
}

const GARBAGE_BYTES = 64 * 1024;
const TIB = 2 ** 40;

const portal = '<!DOCTYPE html>\n<html><head><title>Welcome</title></head><body>Please log in.</body></html>\n';

function garbage(fault: FaultOf<'garbage'>, { verb, accept }: Asked): StandIn {
  const watch = verb === 'watch';
  const encoder = encoderFor(accept);
  const headers = { 'content-type': watch ? encoder.watchContentType : encoder.contentType };
  switch (fault.body) {
    case 'random':
      return { status: 200, headers, body: [new Dice(fault.seed).bytes(GARBAGE_BYTES)] };
    case 'html':
      return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: [Buffer.from(portal)] };
    case 'endless':
      return { status: 200, headers, body: spaces() };
    case 'huge': {
      const start = encoder === protobufEncoder ? Buffer.of(0xff, 0xff, 0xff, 0xff) : Buffer.from('{"type":"ADDED"');
      const length = watch ? {} : { 'content-length': String(TIB) };
      return { status: 200, headers: { ...headers, ...length }, body: [start], hangs: true };
    }
  }
}

/** Any JSON may begin with white space, so a reader without a limit waits forever. */
function* spaces(): Generator<Uint8Array> {
  const chunk = Buffer.alloc(GARBAGE_BYTES, ' ');
  for (;;) yield chunk;
}

/** If the client accepts neither encoding, the API server answers that. */
function encoderFor(accept: string | undefined): Encoder {
  try {
    return negotiate(accept, ['json', 'protobuf']) === 'protobuf' ? protobufEncoder : jsonEncoder;
  } catch {
    return jsonEncoder; // 406 is no answer to a client that is about to be told something else
  }
}
