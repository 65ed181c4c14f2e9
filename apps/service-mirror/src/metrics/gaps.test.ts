import { expect, it } from 'vitest';
import { Absences } from './gaps.ts';

function absences() {
  const clock = { ms: 0 };
  return { clock, of: new Absences(() => clock.ms) };
}

it('lasts from the end of a Service to the next of its name', () => {
  const { clock, of } = absences();
  of.expect('web');
  clock.ms = 100;
  of.ended('web');
  clock.ms = 112.4;
  expect(of.over('web')).toBe(12);
  expect(of.over('web')).toBeUndefined();
});

it('is none where nobody meant to make the Service anew, or its end was not seen', () => {
  const { of } = absences();
  of.ended('web');
  expect(of.over('web')).toBeUndefined();
  of.expect('db');
  expect(of.over('db')).toBeUndefined();
});
