import { describe, expect, it } from 'vitest';
import { excesses, type Sizes, table } from './sizes.ts';

const policy: Sizes = { app: 'policy', bundle: 466_000, image: 204_000_000, base: 76_000_000, startMs: 160.4 };

describe('excesses', () => {
  it.each([
    { name: 'finds nothing within the budgets', sizes: { ...policy, bundle: 2e6, image: 256e6 }, want: [] },
    {
      name: 'finds a bundle',
      sizes: { ...policy, bundle: 2_010_000 },
      want: ['the bundle of policy has 2.01 MB, over its budget of 2.00 MB'],
    },
    {
      name: 'finds an image, without counting its base',
      sizes: { ...policy, image: 257e6 },
      want: ['the image of policy has 181 MB without its base, over its budget of 180 MB'],
    },
  ])('$name', ({ sizes, want }) => {
    expect(excesses([sizes])).toEqual(want);
  });
});

it('makes a table', () => {
  expect(table([policy])).toBe(`| image            |  bundle | unpacked | without its base | start to first request |
| ---------------- | ------: | -------: | ---------------: | ---------------------: |
| semaphore-policy | 0.47 MB |   204 MB |           128 MB |                 160 ms |
| budget           | 2.00 MB |          |           180 MB |                 300 ms |`);
});
