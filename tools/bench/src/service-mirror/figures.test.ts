import { expect, it } from 'vitest';
import type { Result } from '../phases/result.ts';
import { mirrorFigures } from './figures.ts';

const usual = { services: 1000, endpoints: 10, rolloutPods: 100, bareCreationSeconds: 4 };
const targetsOf = (conditions: typeof usual | undefined) => {
  const judged = mirrorFigures(conditions).filter(({ target }) => target !== undefined);
  return Object.fromEntries(judged.map(({ label, target }) => [label, target]));
};

it('has the targets of 1,000 services of 10 endpoints', () => {
  expect(targetsOf(usual)).toEqual({
    'cold sync: all objects written after': 1.15 * 4,
    'cold sync: peak memory': 70,
    'cold sync: local requests without lists and watches': 2002,
    'restart: other writes': 0,
    'restart: peak memory': 70,
    '20 changes/s: requests per written slice': 1,
    'rollout: writes per second': 6.2,
    'idle: CPU of one core': 0.5,
  });
});

it('has the targets of 5,000 services of 100 endpoints', () => {
  const targets = targetsOf({ ...usual, services: 5000, endpoints: 100 });
  const want = { 'cold sync: all objects written after': 30, 'cold sync: CPU': 20, 'cold sync: peak memory': 300 };
  expect(targets).toMatchObject(want);
});

it('has for other sizes only the targets per object', () => {
  const targets = targetsOf({ ...usual, services: 10, endpoints: 101, rolloutPods: 300 });
  expect(targets).toMatchObject({
    'cold sync: local requests without lists and watches': 32,
    'rollout: writes per second': 3 * 6.2,
  });
  expect(Object.keys(targets)).not.toContain('cold sync: peak memory');
});

it('has none if none apply', () => {
  expect(targetsOf(undefined)).toEqual({});
});

it('counts requests for objects, without lists and watches', () => {
  const requests = { remote: {}, local: { create: 2000, get: 1, list: 3, watch: 3 } };
  const coldSync = { firstSeconds: 1, allSeconds: 2, cpuSeconds: 1, peakMb: 90, settledMb: 80, requests };
  const result: Result = { coldSync };
  const figure = mirrorFigures(usual).find(({ target }) => target === 2002);
  expect(figure?.value(result)).toBe(2001);
});
