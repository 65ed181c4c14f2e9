import { expect, it } from 'vitest';
import { wireGuardFigures } from './figures.ts';

const budgetsOf = (conditions: { nodes: number } | undefined) => {
  const judged = wireGuardFigures(conditions).filter(({ budget }) => budget !== undefined);
  return Object.fromEntries(judged.map(({ label, budget }) => [label, budget]));
};

it('has the budgets of 1,000 nodes', () => {
  expect(budgetsOf({ nodes: 1000 })).toEqual({
    'start: peak memory': 90,
    'settled memory': 90,
    'scrapes: most memory after one': 90,
    'scrapes: memory after the last': 90,
    'one change: calls of wg set': 1,
    'one change: peers in a call': 1,
    'restart: calls of wg set': 0,
    'peak memory of all phases': 90,
    'idle: CPU of one core': 0.5,
  });
});

it('has no budgets for the memory of other numbers of nodes', () => {
  expect(Object.keys(budgetsOf({ nodes: 999 }))).toEqual([
    'one change: calls of wg set',
    'one change: peers in a call',
    'restart: calls of wg set',
    'idle: CPU of one core',
  ]);
});

it('has none if none apply', () => {
  expect(budgetsOf(undefined)).toEqual({});
});
