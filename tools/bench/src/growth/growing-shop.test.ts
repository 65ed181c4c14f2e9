import { expect, it } from 'vitest';
import { growingPlans, type Objects } from './growing-shop.ts';

const sizeOf = (objects: Objects, remotes: number, percent = 100) => {
  const plans = growingPlans(objects, { remotes, percent });
  return { objects: plans.length, addresses: plans.reduce((sum, { ips }) => sum + ips, 0) };
};

it('grows with the remotes to 250,000 Pods, or 250,000 endpoints of 10,000 Services', () => {
  expect(sizeOf('Pods', 250)).toEqual({ objects: 250_000, addresses: 250_000 });
  expect(sizeOf('Services', 250)).toEqual({ objects: 10_000, addresses: 250_000 });
  for (const objects of ['Pods', 'Services'] as const)
    expect(10 * sizeOf(objects, 1).addresses).toBe(sizeOf(objects, 10).addresses);
});

it('makes less for a trial, and nothing for idle remotes', () => {
  expect(sizeOf('Pods', 3, 4).addresses).toBe(120);
  expect(sizeOf('Services', 3, 4).addresses).toBe(120);
  expect(sizeOf('Pods', 3, 0).objects).toBe(0);
});

it('gives no remote two objects of one name', () => {
  for (const objects of ['Pods', 'Services'] as const) {
    const names = growingPlans(objects, { remotes: 60, percent: 10 }).map(({ remote, name }) => `${remote}/${name}`);
    expect(new Set(names).size).toBe(names.length);
  }
});
