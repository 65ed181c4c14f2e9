import { expect, it } from 'vitest';
import { wireGuardFigures } from './figures.ts';

const targetsOf = (conditions: { nodes: number } | undefined) => {
  const judged = wireGuardFigures(conditions).filter(({ target }) => target !== undefined);
  return Object.fromEntries(judged.map(({ label, target }) => [label, target]));
};

it('has the targets of 1,000 nodes', () => {
  expect(targetsOf({ nodes: 1000 })).toEqual({
    'start: peak memory': 65,
    'settled memory': 65,
    'scrapes: most memory after one': 65,
    'scrapes: memory after the last': 65,
    'one change: calls of wg set': 1,
    'one change: peers in a call': 1,
    'restart: calls of wg set': 0,
    'peak memory of all phases': 65,
    'idle: CPU of one core': 0.5,
  });
});

it('has no targets for the memory of other numbers of nodes', () => {
  expect(Object.keys(targetsOf({ nodes: 999 }))).toEqual([
    'one change: calls of wg set',
    'one change: peers in a call',
    'restart: calls of wg set',
    'idle: CPU of one core',
  ]);
});

it('has none if none apply', () => {
  expect(targetsOf(undefined)).toEqual({});
});
