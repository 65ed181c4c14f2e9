import { expect, it } from 'vitest';
import { SliceIndex } from './slice-index.ts';

type Slice = { readonly service: string; readonly version: number };

it('gives the same list of slices until one of that Service comes, changes, moves or goes', () => {
  const index = new SliceIndex<Slice>(({ service }) => service);
  const [web, db, newer] = [
    { service: 'web', version: 1 },
    { service: 'db', version: 1 },
    { service: 'web', version: 2 },
  ];
  index.move({ key: 'a', previous: undefined, current: web });
  const first = index.slices('web');
  expect(first).toEqual([web]);
  index.move({ key: 'b', previous: undefined, current: db });
  expect(index.slices('web')).toBe(first);
  index.move({ key: 'a', previous: web, current: newer });
  expect(index.slices('web')).toEqual([newer]);
  index.move({ key: 'b', previous: db, current: { ...db, service: 'web' } });
  expect(index.slices('web')).toHaveLength(2);
  expect(index.slices('db')).toEqual([]);
  index.move({ key: 'a', previous: newer, current: undefined });
  expect(index.slices('web')).toEqual([{ service: 'web', version: 1 }]);
  expect(first).toEqual([web]);
});
