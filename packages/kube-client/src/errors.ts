import type { Status } from '@kube-semaphore/kube-objects';
import { printable } from '@kube-semaphore/text';

/** A `Status.reason` is a word. */
const MAX_REASON = 64;

/**
 * The API server answered, and the answer is an error: an HTTP status of 300 or more, or an ERROR event of a watch.
 * The server may have sent anything, so its text is made printable and cut.
 */
export class KubeApiError extends Error {
  readonly code = 'KUBE_API';
  override readonly name = 'KubeApiError';
  /** HTTP status, or `Status.code` of an ERROR event: 410. */
  readonly status: number;
  /** `Status.reason`: `Expired`, `AlreadyExists`; `''` if the body was not a Status. */
  readonly reason: string;
  /** The words of `Status.details.causes`: `NamespaceTerminating`. */
  readonly causes: readonly string[];
  /** How long the server asks us to wait (429, 503), if it does. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    {
      status,
      reason = '',
      causes = [],
      retryAfterMs,
    }: { status: number; reason?: string; causes?: readonly string[]; retryAfterMs?: number | undefined },
  ) {
    super(printable(message));
    this.status = status;
    this.reason = printable(reason, MAX_REASON);
    this.causes = causes;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Whether an API server answered with one of these HTTP statuses. */
export const isStatus = (error: unknown, ...statuses: readonly number[]): error is KubeApiError =>
  error instanceof KubeApiError && statuses.includes(error.status);

/** Whether an object can't be created because its name is in use. */
export const isTaken = (error: unknown): error is KubeApiError =>
  error instanceof KubeApiError && error.reason === 'AlreadyExists';

/** No answer, or one that was cut: the connection was refused or reset, timed out, or failed its TLS check. */
export class ConnectionError extends Error {
  readonly code = 'KUBE_CONNECTION';
  override readonly name = 'ConnectionError';
}

/** Nothing arrived for so long that the connection counts as dead. */
export class IdleTimeoutError extends Error {
  readonly code = 'KUBE_IDLE';
  override readonly name = 'IdleTimeoutError';
}

/** A body is larger than our limit; for a page of a list, a smaller page may fit. */
export class BodyTooLargeError extends Error {
  readonly code = 'KUBE_BODY_TOO_LARGE';
  override readonly name = 'BodyTooLargeError';
}

/** The longest wait that a server may request: no alert and no liveness probe would notice an endless one. */
const MAX_RETRY_AFTER_SECONDS = 3600;

/** How long a server asks us to wait, at most an hour; undefined for 0 and less. */
export function retryAfterMsOf(seconds: number): number | undefined {
  return seconds > 0 ? Math.min(seconds, MAX_RETRY_AFTER_SECONDS) * 1000 : undefined;
}

/** The error of an ERROR event. */
export function apiErrorOf(status: Status, what: string): KubeApiError {
  const retryAfterMs = retryAfterMsOf(status.details.retryAfterSeconds);
  return new KubeApiError(`${what}: ${status.message || status.reason}`, {
    status: status.code,
    reason: status.reason,
    retryAfterMs,
  });
}
