/**
 * How an answer ends early. `reset`: RST, which clients see as ECONNRESET. `close`: FIN in the
 * middle of the message. `clean`: the message ends as if complete, so that only its contents show the loss; an
 * answer with a Content-Length ends as by `close`.
 */
export type Ending = 'reset' | 'close' | 'clean';

/** A fault. It is plain data, so that tests can generate, compare and print it. */
export type Fault =
  /** The port is closed and all connections are reset, as after a crash. */
  | { readonly kind: 'refuse' }
  /** Connections are reset: the `open` ones, once; `new` ones, from now on; or `all`. */
  | { readonly kind: 'reset'; readonly connections: 'open' | 'new' | 'all' }
  /**
   * No byte passes in either direction: new connections get no TLS handshake, and open watches freeze without an
   * error. The held bytes arrive in the end, as after a network partition. With the direction `answers` requests
   * are carried out, but no answer passes.
   */
  | { readonly kind: 'stall'; readonly direction?: 'answers' }
  /**
   * An answer ends after this many bytes of its body, or (`mid-event`) a byte before the end of the server's next
   * event.
   */
  | { readonly kind: 'truncate'; readonly after: number | 'mid-event'; readonly by: Ending }
  /** A request is passed on after `requestMs`, and each chunk of its answer after `chunkMs`. */
  | { readonly kind: 'delay'; readonly requestMs: number; readonly chunkMs: number }
  /** The body of each answer passes slowly and evenly, in ten pieces a second, as over a narrow link. */
  | { readonly kind: 'throttle'; readonly bytesPerSecond: number }
  /**
   * A Status in the API server's place, in the requested encoding. `retryAfterSeconds` is set in its details
   * and the header. Without a `message`, 403 says that a right is missing. As an `event`, it is the only event of
   * an accepted watch, as a 410 is in reality. A `body` is sent instead, in JSON.
   */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly message?: string;
      readonly retryAfterSeconds?: number;
      readonly as?: 'response' | 'event';
      readonly body?: object;
    }
  /**
   * 200 with an invalid body: `random` bytes from the seed; a page of `html` as captive portals
   * send; the beginning of a `huge` frame (of 4 GiB, or a list of 1 TiB), then nothing; or an
   * `endless` line of spaces.
   */
  | { readonly kind: 'garbage'; readonly body: 'random'; readonly seed: number }
  | { readonly kind: 'garbage'; readonly body: 'html' | 'huge' | 'endless' }
  /** All open answers end periodically. */
  | { readonly kind: 'cut'; readonly everyMs: number; readonly by: Ending }
  /** Lists and the initial events of a WatchList are empty, with the cluster's resourceVersion. */
  | { readonly kind: 'empty' }
  /** 307 to the same path below the URL `to`. */
  | { readonly kind: 'redirect'; readonly to: string }
  /**
   * New connections get a certificate that clients must refuse: of a CA that they don't know, for another host, or one that
   * has expired.
   */
  | { readonly kind: 'certificate'; readonly of: 'another CA' | 'another host' | 'the past' };

export type FaultKind = Fault['kind'];

/** A fault of one kind. */
export type FaultOf<K extends FaultKind> = Extract<Fault, { kind: K }>;

/** Whether a fault can be one of some requests only. */
export const canHaveFilter = (kind: FaultKind): boolean => kind !== 'refuse' && kind !== 'certificate';

/** Whether a fault affects open answers. The other faults affect only new requests. */
export function concernsOpenAnswers({ kind }: Fault): boolean {
  return ['reset', 'stall', 'truncate', 'delay', 'throttle', 'cut'].includes(kind);
}
