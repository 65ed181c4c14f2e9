import { bad, good, type Parsed } from '@kube-semaphore/net';

const NANOSECONDS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5, the micro sign
  μs: 1_000n, // U+03BC, the Greek letter
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** The longest timer of Node.js, 24.8 days: one of more goes off at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/** Go's longest duration, an int64 of nanoseconds: about 292 years. */
const LONGEST = 2n ** 63n - 1n;

/** Enough for every unit once, with all digits that matter. */
const MAX_TEXT = 100;

/**
 * Reads a duration as Go's time.ParseDuration does: `1h0m0s`, `1.5s`, `300ms`, `-1s`, `0`. Any other number needs a
 * unit.
 *
 * @returns milliseconds, with a fraction for microseconds and nanoseconds; possibly more than `LONGEST_TIMER_MS`
 */
export function parseDuration(raw: string): Parsed<number> {
  const refused = bad(`${JSON.stringify(raw.slice(0, MAX_TEXT))} is not a duration like 1h30m, 1.5s or 200ms`);
  const [sign, text] = /^[+-]/.test(raw) ? [raw.charAt(0), raw.slice(1)] : ['', raw];
  if (text === '0') return good(0);
  if (text === '' || text.length > MAX_TEXT) return refused;
  let total = 0n;
  let end = 0;
  for (const [part, number = '', unit = ''] of text.matchAll(PART)) {
    total += nanosecondsOf(number, unit);
    end += part.length;
  }
  if (end !== text.length || total > LONGEST) return refused;
  return good(Number(sign === '-' ? -total : total) / 1e6);
}

/** Exact: in floating point, 1.1s is a little more than 1100 ms. Digits below a nanosecond are dropped. */
function nanosecondsOf(number: string, unit: string): bigint {
  const scale = NANOSECONDS[unit] ?? 0n;
  const [whole = '', fraction = ''] = number.split('.');
  return BigInt(whole) * scale + (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
}

/**
 * Spells milliseconds as Go does, without the trailing zeros of time.Duration.String: `1h`, `1m30s`, `1.5s`, `200ms`,
 * `0`. `parseDuration` reads it back.
 */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 0) return `-${formatDuration(-milliseconds)}`;
  const nanoseconds = Math.round(milliseconds * 1e6);
  if (nanoseconds === 0) return '0';
  if (nanoseconds < 1e3) return `${nanoseconds}ns`;
  if (nanoseconds < 1e6) return `${nanoseconds / 1e3}µs`;
  if (nanoseconds < 1e9) return `${nanoseconds / 1e6}ms`;
  const hours = Math.floor(nanoseconds / 3.6e12);
  const minutes = Math.floor((nanoseconds % 3.6e12) / 6e10);
  const seconds = (nanoseconds % 6e10) / 1e9;
  return [hours && `${hours}h`, minutes && `${minutes}m`, seconds && `${seconds}s`].filter(Boolean).join('');
}
