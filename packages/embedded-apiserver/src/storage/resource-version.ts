import type { Clock } from './clock.ts';
import { tooLargeResourceVersion } from '../http/status.ts';

/** How long the server waits for a resourceVersion in the future. */
const FUTURE_WAIT_MS = 3000;

/** The resourceVersion of a query; 0 (any version) if it has none; undefined if it is invalid. */
export function queriedRevision(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  return /^\d*$/.test(text) ? Number(text) : undefined;
}

/** Waits for a revision in the future. @throws {ApiError} 504 after three seconds */
export async function awaitRevision(clock: Clock, revision: number): Promise<void> {
  if (!(await clock.reaches(revision, FUTURE_WAIT_MS))) throw tooLargeResourceVersion(revision, clock.revision);
}
