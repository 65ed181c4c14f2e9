import { KubeApiError } from '@kube-semaphore/kube-client';
import { OverBudgetError } from './store/remote-budget.ts';

/** What has grown too large shrinks within hours, if at all, and a list that is given up halfway costs both sides. */
const OVER_BUDGET_PAUSE_MS = 300_000;

/** Why a new watch begins; the values of the label `reason` of `…_remote_watch_restarts_total`. */
export const restartReasons = [
  /** The server ended it normally, as it does every few minutes. */
  'closed',
  /** The version to continue from is too old (410); the source is listed again. */
  'expired',
  /** Nothing came on an open watch for `idleTimeoutMs`. */
  'idle',
  /** The connection of an open watch ended, as load balancers do it to idle ones. The next attempt shows an outage. */
  'cut',
  /** The server refused a watch after it allowed a list. If watching is forbidden, the source is listed periodically. */
  'poll',
  /** No connection, no answer, or one that was cut. */
  'unreachable',
  /** The answer doesn't match the request. */
  'garbage',
  /** The remote has more objects or bytes than its budget. */
  'over_budget',
  /** 401 or 403. */
  'denied',
  /** 429. */
  'throttled',
  /** 5xx. */
  'server_error',
  /** Any other error status. */
  'rejected',
] as const;

export type RestartReason = (typeof restartReasons)[number];

/**
 * The cause of a failed attempt, without reading its message; `closed` without an error.
 *
 * @param wasOpen the attempt had an open watch, with a complete list before it: it was answered
 */
export function restartReason(error: unknown, { wasOpen }: { wasOpen: boolean }): RestartReason {
  if (error === undefined) return 'closed';
  if (error instanceof KubeApiError) return reasonOfStatus(error.status);
  switch ((error as { code?: unknown }).code) {
    case 'KUBE_DECODE':
    case 'KUBE_BODY_TOO_LARGE':
      return 'garbage';
    case 'KUBE_IDLE':
      return wasOpen ? 'idle' : 'unreachable';
    case 'KUBE_CONNECTION':
      return wasOpen ? 'cut' : 'unreachable';
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

/** What the end of an attempt says about when to try again. */
export function retryHints(
  reason: RestartReason,
  error: unknown,
): { retryAfterMs: number | undefined; wasCut: boolean } {
  const wasCut = ['closed', 'unreachable', 'idle', 'cut'].includes(reason);
  if (error instanceof OverBudgetError) return { retryAfterMs: OVER_BUDGET_PAUSE_MS, wasCut };
  return { retryAfterMs: error instanceof KubeApiError ? error.retryAfterMs : undefined, wasCut };
}
