import { expect, it } from 'vitest';
import { byApps } from './shared.ts';

it('groups rows by the apps that share them', () => {
  const told = [
    { app: 'a', row: 1, says: 'x' },
    { app: 'a', row: 2, says: 'y' },
    { app: 'b', row: 3, says: 'x' },
    { app: 'b', row: 4, says: 'z' },
    { app: 'a', row: 5, says: 'w' },
    { app: 'b', row: 6, says: 'w' },
  ];
  expect(byApps(told)).toEqual([
    {
      apps: ['a', 'b'],
      rows: [
        [1, 3],
        [5, 6],
      ],
    },
    { apps: ['a'], rows: [[2]] },
    { apps: ['b'], rows: [[4]] },
  ]);
});
