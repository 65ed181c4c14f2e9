import type { Health } from '@kube-semaphore/runtime';

/** A loop, with the time since its last activity. */
export type Loop = { readonly name: string; readonly silentMs: number };

export type LivenessInput = {
  readonly loops: readonly Loop[];
  readonly longestReconcileMs: number;
  readonly idleTimeoutMs: number;
};

/** A request takes at most a minute, and a reconcile makes a few. */
const LONGEST_RECONCILE_MS = 300_000;

/**
 * Whether all loops make progress. A watch is active at least every `idleTimeoutMs`, if only because it is opened again:
 * one that is silent for twice that and a minute hangs, and only a restart helps.
 */
export function liveness({ loops, longestReconcileMs, idleTimeoutMs }: LivenessInput): Health {
  const hanging = loops.find(({ silentMs }) => silentMs > 2 * idleTimeoutMs + 60_000);
  if (hanging !== undefined) return { ok: false, reason: `the watch of ${hanging.name} hangs` };
  if (longestReconcileMs > LONGEST_RECONCILE_MS) return { ok: false, reason: 'a reconcile hangs' };
  return { ok: true };
}

export type ReadinessInput = {
  readonly localSynced: boolean;
  readonly remotes: readonly { readonly name: string; readonly synced: boolean }[];
  /** For how long the remotes have been watched; undefined: they aren't. */
  readonly watchedMs: number | undefined;
};

/** How long a remote may delay readiness: a dead one must not block a rollout. */
const REMOTE_GRACE_MS = 30_000;

/** Whether the local side is listed, and each remote is synced or late. */
export function readiness({ localSynced, remotes, watchedMs }: ReadinessInput): Health {
  if (!localSynced || watchedMs === undefined) return { ok: false, reason: 'the local cluster is not listed yet' };
  const missing = remotes.filter(({ synced }) => !synced).map(({ name }) => name);
  if (missing.length === 0 || watchedMs > REMOTE_GRACE_MS) return { ok: true };
  return { ok: false, reason: `waiting for the first list of ${missing.join(', ')}` };
}
