/** How often to list where a role has no `watch`, as that of the Go program hasn't. */
export const POLL_INTERVAL_MS = 30_000;
