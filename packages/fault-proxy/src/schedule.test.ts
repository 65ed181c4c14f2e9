import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canHaveFilter } from './fault.ts';
import { faultKinds, faultSeed, randomSchedule, type ScheduleOptions, type Step } from './schedule.ts';

function first(count: number, seed: number, options?: ScheduleOptions): Step[] {
  const schedule = randomSchedule(seed, options);
  return Array.from({ length: count }, () => schedule.next().value);
}

describe('randomSchedule', () => {
  it('is the same for the same seed', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(first(50, seed)).toEqual(first(50, seed));
      }),
    );
  });

  it('differs for another seed', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { minLength: 2, maxLength: 2 }), ([one, other]) => {
        expect(first(50, one!)).not.toEqual(first(50, other!));
      }),
    );
  });

  it('has only the given kinds, and no step longer than the maximum', () => {
    const kinds = fc.subarray([...faultKinds], { minLength: 1 });
    fc.assert(
      fc.property(fc.integer(), kinds, fc.integer({ min: 1, max: 60_000 }), (seed, wanted, longestMs) => {
        for (const { fault, faultMs, calmMs } of first(50, seed, { kinds: wanted, longestMs })) {
          expect(wanted).toContain(fault.kind);
          for (const ms of [faultMs, calmMs]) expect(ms > 0 && ms <= longestMs && Number.isInteger(ms)).toBe(true);
        }
      }),
    );
  });

  it('has every kind in the end, each with a filter if it can have one', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const steps = first(1_000, seed);
        const kindsOf = (some: readonly Step[]) => new Set(some.map(({ fault }) => fault.kind));
        expect(kindsOf(steps)).toEqual(new Set(faultKinds));
        const filtered = steps.filter(({ filter }) => filter !== undefined);
        expect(kindsOf(filtered)).toEqual(new Set(faultKinds.filter(canHaveFilter)));
      }),
    );
  });

  it('survives JSON', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(JSON.parse(JSON.stringify(first(50, seed)))).toEqual(first(50, seed));
      }),
    );
  });
});

describe('faultSeed', () => {
  it('is FAULT_SEED or a new number, and is printed', () => {
    const printed: string[] = [];
    const print = (line: string) => printed.push(line);
    expect(faultSeed({ env: { FAULT_SEED: '42' }, print })).toBe(42);
    const seed = faultSeed({ env: {}, print });
    expect(Number.isInteger(seed)).toBe(true);
    expect(printed).toEqual(['FAULT_SEED=42', `FAULT_SEED=${seed}`]);
  });
});
