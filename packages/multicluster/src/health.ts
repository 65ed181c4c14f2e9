import type { Health } from '@kube-semaphore/runtime';

/** A loop that can tell for how long it has done nothing. */
export type Loop = { readonly name: string; readonly silentMs: number };

export type LivenessInput = {
  readonly loops: readonly Loop[];
  readonly longestReconcileMs: number;
  readonly idleTimeoutMs: number;
};

/** No request takes longer than a minute, and a set's reconcile makes a few. */
const LONGEST_RECONCILE_MS = 300_000;

/**
 * Whether all loops turn. A watch stirs at least every `idleTimeoutMs`, if only to be opened again: whatever is
 * silent for twice that and a minute hangs, and only a restart helps.
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
  /** For how long the remotes have been watched; undefined before. */
  readonly watchedMs: number | undefined;
};

/** How long a remote may hold back readiness: a dead one must not block a rollout. */
const REMOTE_GRACE_MS = 30_000;

/** Whether the local side stands, and each remote has synced or had its time. */
export function readiness({ localSynced, remotes, watchedMs }: ReadinessInput): Health {
  if (!localSynced || watchedMs === undefined) return { ok: false, reason: 'the local cluster is not known yet' };
  const missing = remotes.filter(({ synced }) => !synced).map(({ name }) => name);
  if (missing.length === 0 || watchedMs > REMOTE_GRACE_MS) return { ok: true };
  return { ok: false, reason: `waiting for the first list of ${missing.join(', ')}` };
}
