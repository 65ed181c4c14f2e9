import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

const HOUR = 3_600_000;

describe('parseDuration', () => {
  it.each([
    { name: 'reads Go’s own spelling of an hour', raw: '1h0m0s', want: HOUR },
    { name: 'reads a fraction', raw: '1.5s', want: 1_500 },
    { name: 'reads a fraction exactly', raw: '1.1s', want: 1_100 },
    { name: 'reads milliseconds', raw: '300ms', want: 300 },
    { name: 'reads zero without a unit', raw: '0', want: 0 },
    { name: 'reads zero with a unit', raw: '0s', want: 0 },
    { name: 'reads a sign', raw: '-1s', want: -1_000 },
    { name: 'reads a plus', raw: '+1s', want: 1_000 },
    { name: 'reads minutes before milliseconds', raw: '1m1ms', want: 60_001 },
    { name: 'reads units in any order, and twice', raw: '1s1h1s', want: HOUR + 2_000 },
    { name: 'reads a number without whole part', raw: '.5s', want: 500 },
    { name: 'reads a number without fraction', raw: '5.s', want: 5_000 },
    { name: 'reads microseconds', raw: '1us', want: 0.001 },
    { name: 'reads the micro sign', raw: '1\u00b5s', want: 0.001 },
    { name: 'reads the Greek mu', raw: '1\u03bcs', want: 0.001 },
    { name: 'reads nanoseconds', raw: '1ns', want: 0.000001 },
    { name: 'drops what is below a nanosecond', raw: '0.9ns', want: 0 },
    { name: 'reads Go’s longest', raw: '2562047h47m16.854775807s', want: 9_223_372_036_854.775 },
  ])('$name', ({ raw, want }) => {
    expect(parseDuration(raw)).toEqual({ ok: true, value: want });
  });

  it.each([
    { name: 'refuses an empty text', raw: '' },
    { name: 'refuses a sign alone', raw: '-' },
    { name: 'refuses a number without a unit', raw: '30' },
    { name: 'refuses a unit without a number', raw: 'h' },
    { name: 'refuses a point without digits', raw: '.s' },
    { name: 'refuses days', raw: '1d' },
    { name: 'refuses capitals', raw: '1H' },
    { name: 'refuses a space', raw: '1h 30m' },
    { name: 'refuses a space at the end', raw: '1h ' },
    { name: 'refuses a sign inside', raw: '1h-30m' },
    { name: 'refuses an exponent', raw: '1e3s' },
    { name: 'refuses more than 292 years', raw: '2562048h' },
    { name: 'refuses words', raw: 'Infinity' },
    { name: 'refuses a megabyte of digits', raw: `${'9'.repeat(1_000_000)}h` },
  ])('$name', ({ raw }) => {
    const parsed = parseDuration(raw);
    expect(parsed).toMatchObject({ ok: false, reason: expect.stringContaining('is not a duration') });
    expect(JSON.stringify(parsed).length).toBeLessThan(250);
  });
});

describe('formatDuration', () => {
  it.each([
    { name: 'spells an hour', milliseconds: HOUR, want: '1h' },
    { name: 'spells the rest of an hour', milliseconds: HOUR + 60_000, want: '1h1m' },
    { name: 'skips a unit that is zero', milliseconds: HOUR + 1_000, want: '1h1s' },
    { name: 'spells more than a minute in minutes', milliseconds: 90_000, want: '1m30s' },
    { name: 'spells a fraction of a second', milliseconds: 1_500, want: '1.5s' },
    { name: 'spells less than a second in milliseconds', milliseconds: 200, want: '200ms' },
    { name: 'spells microseconds', milliseconds: 0.25, want: '250µs' },
    { name: 'spells nanoseconds', milliseconds: 0.000001, want: '1ns' },
    { name: 'spells zero', milliseconds: 0, want: '0' },
    { name: 'spells a sign', milliseconds: -1_000, want: '-1s' },
  ])('$name', ({ milliseconds, want }) => {
    expect(formatDuration(milliseconds)).toBe(want);
  });

  it('is read back by parseDuration', () => {
    // Up to 13 days: a float64 of milliseconds still distinguishes their nanoseconds.
    const nanoseconds = fc.oneof(fc.nat(1e9), fc.integer({ min: 0, max: 2 ** 50 }));
    fc.assert(
      fc.property(nanoseconds, (count) => {
        const milliseconds = count / 1e6;
        expect(parseDuration(formatDuration(milliseconds))).toEqual({ ok: true, value: milliseconds });
      }),
    );
  });
});
