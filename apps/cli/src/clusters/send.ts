import { printable } from '@kube-semaphore/text';
import type { Context } from './contexts.ts';
import { failureOf } from './failure.ts';
import { ask, RequestError, type Sent } from './request.ts';

const TIMEOUT_MS = 10_000;

/** A write, and what it changes, for errors: `ServiceExport shop/web`. */
export type Writing = Sent & { readonly what: string };

/**
 * Sends a write. @returns the answer; undefined if there is no such object, or no such kind
 *
 * @throws Error with a sentence for the user
 */
export async function send(
  context: Context,
  { what, ...sent }: Writing,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return (await ask(context, sent, { signal, timeoutMs: TIMEOUT_MS })).body;
  } catch (cause) {
    if (!(cause instanceof RequestError)) throw cause;
    const { status, message } = cause;
    if (status === 404) return undefined;
    const isRefusal = status !== undefined && status !== 401 && status !== 403;
    const words = `${context.name}: the API server refuses ${what}: ${message} (${status})`;
    throw new Error(isRefusal ? printable(words) : failureOf(context, cause), { cause });
  }
}

/** The parameter of a write that the API server checks, but doesn't store. */
export const dryRunOf = (dryRun: boolean): Record<string, string> => (dryRun ? { dryRun: 'All' } : {});
