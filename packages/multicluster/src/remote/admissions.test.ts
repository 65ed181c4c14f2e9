import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Admissions } from './admissions.ts';

const step = fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), comes: fc.boolean() });

describe('Admissions', () => {
  it('lets in as many as there is room for, and none that came later before one that waits', () =>
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
          // What was let in stays.
          expect(wasIn.filter((each) => admissions.isWaiting(each))).toEqual([]);
        }
      }),
    ));

  it('lets in what is here already, though there is no room, and then no other before there is', () => {
    const admissions = new Admissions(1);
    admissions.enter('a', { isHere: true });
    admissions.enter('b', { isHere: true });
    admissions.enter('c', { isHere: false });
    expect(['a', 'b', 'c'].filter((name) => admissions.isWaiting(name))).toEqual(['c']);
    expect(admissions.leave('a')).toBeUndefined();
    expect(admissions.leave('b')).toBe('c');
  });
});
