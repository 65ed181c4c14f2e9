import { expect, it } from 'vitest';
import { Gaps } from './gaps.ts';

function gaps() {
  const clock = { ms: 0 };
  const of = new Gaps(() => clock.ms);
  const remove = (name: string): void => of.changed('services', { previous: { name }, current: undefined });
  return { clock, of, remove };
}

it('measures from the end of a Service to the next of its name', () => {
  const { clock, of, remove } = gaps();
  of.expect('web');
  clock.ms = 100;
  remove('web');
  clock.ms = 112.4;
  expect(of.over('web')).toBe(12);
  expect(of.over('web')).toBeUndefined();
});

it('measures nothing if the Service was not replaced, or its end was not seen', () => {
  const { of, remove } = gaps();
  remove('web');
  expect(of.over('web')).toBeUndefined();
  of.expect('db');
  expect(of.over('db')).toBeUndefined();
});
