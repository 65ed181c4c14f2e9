import { expect, it } from 'vitest';
import { mirrorTargets } from './service-mirror.ts';

it('has targets of time, CPU and memory for two sizes only', () => {
  const perSize = (services: number, endpoints: number) => {
    const targets = mirrorTargets({ services, endpoints, rollout: 100 }, 4);
    return ['all objects written after', 'CPU', 'peak memory'].map((what) => targets[`cold sync: ${what}`]);
  };
  expect(perSize(1000, 10)).toEqual([1.15 * 4, undefined, 70]);
  expect(perSize(5000, 100)).toEqual([30, 20, 300]);
  expect(perSize(10, 101)).toEqual([undefined, undefined, undefined]);
});

it('has targets per object for all sizes', () => {
  expect(mirrorTargets({ services: 10, endpoints: 101, rollout: 300 }, 4)).toMatchObject({
    'cold sync: local requests without lists and watches': 32,
    'rollout: writes per second': 3 * 6.2,
  });
});
