/**
 * How an answer comes to its end before its time. `reset`: RST, which clients see as ECONNRESET. `close`: FIN in the
 * middle of the message. `clean`: the message ends as if that were all of it, so that only its contents can tell; an
 * answer whose length was promised in its head ends as by `close`.
 */
export type Ending = 'reset' | 'close' | 'clean';

/** What a fault proxy does wrong. Plain data, so that a schedule of faults can be made up, compared and printed. */
export type Fault =
  /** The port is closed and all connections are reset, as when a server crashed. */
  | { readonly kind: 'refuse' }
  /** Connections are reset: those that are `open`, once; those that are made from now on (`new`); or both (`all`). */
  | { readonly kind: 'reset'; readonly connections: 'open' | 'new' | 'all' }
  /**
   * Not a byte passes in either direction: new connections get no TLS handshake, open watches freeze, and nobody is
   * told. What was held back is delivered in the end, as after a network partition. With `direction` it is one only:
   * of `answers` none passes, so that a request is carried out and nobody hears of it.
   */
  | { readonly kind: 'stall'; readonly direction?: 'answers' }
  /**
   * An answer ends after so many bytes of its body, or (`mid-event`) a byte short of what the server sends next, which
   * ends where an event does.
   */
  | { readonly kind: 'truncate'; readonly after: number | 'mid-event'; readonly by: Ending }
  /** A request is passed on after `requestMs`, and each chunk of its answer after `chunkMs`. */
  | { readonly kind: 'delay'; readonly requestMs: number; readonly chunkMs: number }
  /**
   * A Status in the API server's place, in the encoding that was asked for; `retryAfterSeconds` goes into its details
   * and the header. As an `event` the watch is accepted and the Status is its only event: so comes 410 in reality.
   */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfterSeconds?: number;
      readonly as?: 'response' | 'event';
    }
  /**
   * 200 and a body that is none: `random` bytes, which follow from the seed; a page of `html` such as captive portals
   * send; the beginning of a `huge` frame (one that says it has 4 GiB, a list that says 1 TiB) and then silence; or an
   * `endless` line of spaces.
   */
  | { readonly kind: 'garbage'; readonly body: 'random'; readonly seed: number }
  | { readonly kind: 'garbage'; readonly body: 'html' | 'huge' | 'endless' }
  /** Every so often, whatever is open ends. */
  | { readonly kind: 'cut'; readonly everyMs: number; readonly by: Ending }
  /** Lists are empty, and so is what a WatchList begins with; the resourceVersion is the cluster's. */
  | { readonly kind: 'empty' }
  /** 307 to the same path below the URL `to`. */
  | { readonly kind: 'redirect'; readonly to: string };

export type FaultKind = Fault['kind'];

/** A fault of one kind. */
export type FaultOf<K extends FaultKind> = Extract<Fault, { kind: K }>;

/** Whether a fault does anything to an answer that has begun. The others are for requests that are yet to come. */
export function concernsOpenAnswers({ kind }: Fault): boolean {
  return ['reset', 'stall', 'truncate', 'delay', 'cut'].includes(kind);
}
