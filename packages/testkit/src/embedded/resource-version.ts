import type { Clock } from './clock.ts';
import { badRequest, tooLargeResourceVersion } from './status.ts';

/** How long the server waits for a resourceVersion of the future, in case it lags behind. */
const FUTURE_WAIT_MS = 3000;

/** The resourceVersion of a query; 0 ("anything you have") if there is none. @throws {ApiError} 400 for garbage */
export function queriedRevision(query: URLSearchParams): number {
  const text = query.get('resourceVersion') ?? '';
  if (!/^\d*$/.test(text)) throw badRequest(`Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  return Number(text);
}

/** Waits for a revision of the future. @throws {ApiError} 504 when it doesn't come within three seconds */
export async function awaitRevision(clock: Clock, revision: number): Promise<void> {
  if (!(await clock.reaches(revision, FUTURE_WAIT_MS))) throw tooLargeResourceVersion(revision, clock.revision);
}
