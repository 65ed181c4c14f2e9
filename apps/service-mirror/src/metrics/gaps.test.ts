import { expect, it } from 'vitest';
import { Gaps } from './gaps.ts';

function gaps() {
  const clock = { ms: 0 };
  return { clock, of: new Gaps(() => clock.ms) };
}

it('lasts from the end of a Service to the next of its name', () => {
  const { clock, of } = gaps();
  of.expect('web');
  clock.ms = 100;
  of.ended('web');
  clock.ms = 112.4;
  expect(of.over('web')).toBe(12);
  expect(of.over('web')).toBeUndefined();
});

it('is none where nobody meant to make the Service anew, or its end was not seen', () => {
  const { of } = gaps();
  of.ended('web');
  expect(of.over('web')).toBeUndefined();
  of.expect('db');
  expect(of.over('db')).toBeUndefined();
});
