/**
 * A duration with at most three digits, the precision of one measurement: `0.4 ms`, `14 ms`, `1.25 s`,
 * `1 min 5 s`.
 *
 * @param ms not negative
 */
export function formatDuration(ms: number): string {
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${ms.toFixed(0)} ms`;
  if (ms < 9_995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
