import { expect, it } from 'vitest';
import type { Result } from '../phases/result.ts';
import { mirrorFigures } from './figures.ts';

const usual = { services: 1000, endpoints: 10, rolloutPods: 100 };
const budgetsOf = (conditions: typeof usual | undefined) => {
  const judged = mirrorFigures(conditions).filter(({ budget }) => budget !== undefined);
  return Object.fromEntries(judged.map(({ label, budget }) => [label, budget]));
};

it('has the budgets of 1,000 services of 10 endpoints', () => {
  expect(budgetsOf(usual)).toEqual({
    'cold sync: all objects written after': 5,
    'cold sync: peak memory': 100,
    'cold sync: local requests without lists and watches': 2002,
    'restart: other writes': 0,
    '20 changes/s: requests per written slice': 1,
    'rollout: writes': 30,
    'idle: CPU of one core': 0.5,
  });
});

it('has for other sizes only the budgets per object', () => {
  const budgets = budgetsOf({ services: 10, endpoints: 101, rolloutPods: 300 });
  expect(budgets).toMatchObject({ 'cold sync: local requests without lists and watches': 32, 'rollout: writes': 90 });
  expect(Object.keys(budgets)).not.toContain('cold sync: peak memory');
});

it('has none if none apply', () => {
  expect(budgetsOf(undefined)).toEqual({});
});

it('counts requests for objects, without lists and watches', () => {
  const requests = { remote: {}, local: { create: 2000, get: 1, list: 3, watch: 3 } };
  const coldSync = { firstSeconds: 1, allSeconds: 2, cpuSeconds: 1, peakMb: 90, settledMb: 80, requests };
  const result: Result = { name: 'ours', coldSync };
  const figure = mirrorFigures(usual).find(({ budget }) => budget === 2002);
  expect(figure?.value(result)).toBe(2001);
});
