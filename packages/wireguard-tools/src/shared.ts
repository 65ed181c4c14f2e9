import type { CallOptions } from './run-tool.ts';

/**
 * Makes calls share a run: those that come while one runs wait for the next, which begins after all of them, so each sees what its
 * caller changed before. A run is aborted when all of its callers are.
 */
export function shared<T>(run: (options: CallOptions) => Promise<T>): (options: CallOptions) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Run<T> | undefined;
  const begin = (): Run<T> => {
    const ending = new AbortController();
    const { signal } = ending;
    const result = last.then(() => {
      next = undefined;
      signal.throwIfAborted();
      return run({ signal });
    });
    last = result.catch(() => undefined); // its callers get the error
    return { result, ending, callers: 0 };
  };
  return async ({ signal }) => {
    signal.throwIfAborted();
    const joined = (next ??= begin());
    joined.callers++;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const leave = (): void => {
      reject(signal.reason as Error);
      if (--joined.callers > 0) return;
      joined.ending.abort(signal.reason);
      if (next === joined) next = undefined;
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([joined.result, aborted]);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  };
}

type Run<T> = { readonly result: Promise<T>; readonly ending: AbortController; callers: number };
