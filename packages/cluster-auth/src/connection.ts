import type { Agent } from 'node:http';
import type { Validity } from './credentials/credentials.ts';

/**
 * What a request is sent with. It is the same object until something rotates, so `===` shows whether anything changed.
 */
export type Authorization = {
  /** The base of the request's URL: what `Connection.server` was when this was made. Credentials go to no other server. */
  readonly server: URL;
  /**
   * Verifies the API server, presents the client certificate, uses the proxy, and keeps connections alive. It is an agent
   * of node:http if the server's URL is http:.
   */
  readonly agent: Agent;
  /** `authorization` and impersonation; each value of a name is a header line. */
  readonly headers: Readonly<Record<string, string | string[]>>;
};

/**
 * How to reach one API server, made by `connect`. Safe for concurrent use. Requests under way, such as watches,
 * continue when credentials rotate: an API server checks them only at the start. They end when a kubeconfig names another
 * server.
 */
export interface Connection {
  /** Base of every request's URL, until a kubeconfig names another. The path doesn't end in a slash, unless it is `/`. */
  readonly server: URL;

  /**
   * Aborted, before the first request to it, when another server takes the place of `server`: its objects and their
   * versions may be others. Then it is a new signal. Undefined: the server never changes.
   */
  readonly sameServer?: AbortSignal | undefined;

  /** Of the credentials that were used last. Undefined: none yet, they don't end, or a plugin or an issuer renews them. */
  readonly validity?: Validity | undefined;

  /**
   * What a request needs now. Call it before each request: it answers from memory, checks the files at most once a
   * second, and reads them again if they changed. The first call may fetch the CA or run a plugin.
   *
   * @throws {ClusterAuthError} for this call only; the next one tries again. Callers back off.
   */
  authorize(options: { signal: AbortSignal }): Promise<Authorization>;

  /**
   * Call it after an HTTP 401, with the request's authorization. Reads the credentials again, at most once a second.
   * Rejects only with the signal's reason.
   *
   * @returns whether `authorize` now returns something else, so that a retry could help
   */
  unauthorized(used: Authorization, options: { signal: AbortSignal }): Promise<boolean>;

  /**
   * Call it with the error of a request that got no answer, and the request's authorization. If the API server's
   * certificate was refused, reads the CA again: from a URL at most once a minute, from a file once a second.
   * Rejects only with the signal's reason.
   *
   * @returns whether `authorize` now trusts another CA, so that a retry could help
   */
  connectionFailed(error: unknown, used: Authorization, options: { signal: AbortSignal }): Promise<boolean>;

  /**
   * Reads the kubeconfig now, if it changed, at most once a second: between two requests nothing else does.
   *
   * @returns whether it can't be used, so that an earlier content of it is in use
   */
  isStale?(): Promise<boolean>;

  /** Closes every socket, including those of running requests, and stops all reads. Idempotent. */
  close(): void;
}
