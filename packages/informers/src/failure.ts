import { KubeApiError } from '@kube-semaphore/kube-client';

/** Why a watch begins anew; the values of the label `reason` of `…_remote_watch_restarts_total`. */
export const restartReasons = [
  /** The server ended it in peace, as it does every few minutes. */
  'closed',
  /** The version to go on from is too old (410); the source is listed again. */
  'expired',
  /** Nothing came for `idleTimeoutMs`. */
  'idle',
  /** A watch was refused after a list that was not; if watching is forbidden, the source is listed every now and then. */
  'poll',
  /** No connection, or one that broke. */
  'unreachable',
  /** What came was no answer to what was asked. */
  'garbage',
  /** The remote has more than is kept of any. */
  'over_budget',
  /** 401 or 403. */
  'denied',
  /** 429. */
  'throttled',
  /** 5xx. */
  'server_error',
  /** Any other refusal. */
  'rejected',
] as const;

export type RestartReason = (typeof restartReasons)[number];

/** What a failed attempt says about its cause, without reading its message. */
export function restartReason(error: unknown): RestartReason {
  if (error instanceof KubeApiError) return reasonOfStatus(error.status);
  switch ((error as { code?: unknown }).code) {
    case 'KUBE_DECODE':
    case 'KUBE_BODY_TOO_LARGE':
      return 'garbage';
    case 'KUBE_IDLE':
      return 'idle';
    case 'KUBE_OVER_BUDGET':
      return 'over_budget';
    default:
      return 'unreachable';
  }
}

function reasonOfStatus(status: number): RestartReason {
  if (status === 410) return 'expired';
  if (status === 401 || status === 403) return 'denied';
  if (status === 429) return 'throttled';
  return status >= 500 ? 'server_error' : 'rejected';
}
