import type { Clock } from './clock.ts';
import { tooLargeResourceVersion } from '../http/status.ts';

/** How long the server waits for a resourceVersion of the future, in case it lags behind. */
const FUTURE_WAIT_MS = 3000;

/** The resourceVersion of a query, 0 ("anything you have") if there is none; undefined for garbage. */
export function queriedRevision(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  return /^\d*$/.test(text) ? Number(text) : undefined;
}

/** Waits for a revision of the future. @throws {ApiError} 504 when it doesn't come within three seconds */
export async function awaitRevision(clock: Clock, revision: number): Promise<void> {
  if (!(await clock.reaches(revision, FUTURE_WAIT_MS))) throw tooLargeResourceVersion(revision, clock.revision);
}
