import { expect, it } from 'vitest';
import { Unseen } from './unseen.ts';

it('refuses a change that overtakes the last one of the same thing, and no other', async () => {
  const unseen = new Unseen();
  const { promise, resolve } = Promise.withResolvers<string>();
  const first = unseen.during('import 001', () => promise);
  await expect(unseen.during('import 001', () => Promise.resolve('made'))).rejects.toThrow(
    'the last change of import 001 was overtaken',
  );
  expect(await unseen.during('import 002', () => Promise.resolve('made'))).toBe('made');
  resolve('seen');
  expect(await first).toBe('seen');
  expect(await unseen.during('import 001', () => Promise.resolve('made'))).toBe('made');
});
