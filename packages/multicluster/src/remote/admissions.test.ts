import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Admissions } from './admissions.ts';

const step = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), comes: fc.boolean() });

describe('Admissions', () => {
  it('admits names up to the limit, in the order in which they came', () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), (limit, steps) => {
        const admissions = new Admissions(limit);
        const asked: string[] = [];
        for (const { name, comes } of steps) {
          const wasIn = asked.filter((each) => !admissions.isWaiting(each));
          if (comes) {
            admissions.enter(name, { isHere: false });
            if (!asked.includes(name)) asked.push(name);
          } else {
            admissions.leave(name);
            if (asked.includes(name)) asked.splice(asked.indexOf(name), 1);
          }
          const waiting = asked.filter((each) => admissions.isWaiting(each));
          expect(waiting).toEqual(asked.slice(limit));
          expect(admissions.isOver).toBe(asked.length > limit);
          // An admitted name stays.
          expect(wasIn.filter((each) => admissions.isWaiting(each))).toEqual([]);
        }
      }),
    ));

  it('admits what is here even beyond the limit, and then no other name', () => {
    const admissions = new Admissions(1);
    admissions.enter('a', { isHere: true });
    admissions.enter('b', { isHere: true });
    admissions.enter('c', { isHere: false });
    expect(['a', 'b', 'c'].filter((name) => admissions.isWaiting(name))).toEqual(['c']);
    expect(admissions.leave('a')).toBeUndefined();
    expect(admissions.leave('b')).toBe('c');
  });
});
