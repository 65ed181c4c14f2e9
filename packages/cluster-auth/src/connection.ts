import type { Agent } from 'node:http';

/**
 * What a request is sent with. As long as nothing rotates it is the same object, so that `===` tells whether
 * anything changed.
 */
export type Authorization = {
  /** One of node:http where the server's URL is http:. Verifies the API server, presents the client certificate, goes through the proxy, keeps connections alive. */
  readonly agent: Agent;
  /** `authorization` and impersonation; several values of one name are several header lines. */
  readonly headers: Readonly<Record<string, string | string[]>>;
};

/**
 * A live way to one API server, made by `connect`. Safe for concurrent use. Requests that are under way when
 * credentials rotate, watches above all, go on undisturbed: an API server checks them once, at the start.
 */
export interface Connection {
  /** Base of every request's URL. The path has no slash at its end, unless it is `/`. */
  readonly server: URL;

  /**
   * What a request needs now. Call it before each request: it answers from memory, looks at the files at most once
   * a second, and reads rotated ones first. The first call may fetch the CA or run a plugin.
   *
   * @throws {ClusterAuthError} of this call only; the next one tries again. Callers back off.
   */
  authorize(options: { signal: AbortSignal }): Promise<Authorization>;

  /**
   * Call it after an HTTP 401, with what the request was sent with. Reads the credentials anew, at most once a
   * second. Rejects only with the signal's reason.
   *
   * @returns whether `authorize` now gives something else, so that a retry could help
   */
  unauthorized(used: Authorization, options: { signal: AbortSignal }): Promise<boolean>;

  /**
   * Call it with the error of a request that got no answer, and what it was sent with. If the API server's
   * certificate was refused, reads the CA anew: from a URL at most once a minute, from a file once a second.
   * Rejects only with the signal's reason.
   *
   * @returns whether `authorize` now trusts another CA, so that a retry could help
   */
  connectionFailed(error: unknown, used: Authorization, options: { signal: AbortSignal }): Promise<boolean>;

  /** Closes every socket, also those of running requests, and ends what is being read. Idempotent. */
  close(): void;
}
