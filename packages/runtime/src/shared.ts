/**
 * Runs `work` for the first caller, and gives its outcome to all callers until `forMs` after its end.
 *
 * @param work its promise doesn't reject
 * @param nowMs a clock that never steps back
 */
export function shared<T>(
  work: () => Promise<T>,
  { forMs, nowMs = () => performance.now() }: { readonly forMs: number; readonly nowMs?: () => number },
): () => Promise<T> {
  let last: { readonly outcome: Promise<T>; endedMs: number } | undefined;
  return () => {
    if (last === undefined || nowMs() - last.endedMs >= forMs) {
      const begun = { outcome: work(), endedMs: Infinity };
      void begun.outcome.finally(() => (begun.endedMs = nowMs()));
      last = begun;
    }
    return last.outcome;
  };
}
