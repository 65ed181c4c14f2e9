import type { ProfileRemote } from './profile.ts';

/** A remote whose ClusterProfile vanished, or can't be used any more. */
export type HeldRemote = { readonly remote: ProfileRemote; readonly sinceMs: number };

export type HeldInput = {
  /** In force, and described by a profile, until now. */
  readonly before: readonly ProfileRemote[];
  readonly held: readonly HeldRemote[];
  /** Described by a profile now. */
  readonly now: readonly ProfileRemote[];
  /** Monotonic. */
  readonly nowMs: number;
  readonly holdMs: number;
};

/** The remotes that stay although no profile describes them now. One that another profile describes is no loss. */
export function heldRemotes({ before, held, now, nowMs, holdMs }: HeldInput): readonly HeldRemote[] {
  const profiles = new Set(now.map(({ profile }) => profile));
  const names = new Set(now.map(({ name }) => name));
  return [...held, ...before.map((remote) => ({ remote, sinceMs: nowMs }))].filter(
    ({ remote, sinceMs }) => !profiles.has(remote.profile) && !names.has(remote.name) && nowMs - sinceMs < holdMs,
  );
}
