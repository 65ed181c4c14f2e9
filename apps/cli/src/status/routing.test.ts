import { expect, it } from 'vitest';
import { appPod } from '../../test/support/reports.ts';
import type { AppStatus } from '../clusters/app-status.ts';
import { drainedIn, movedIn } from './routing.ts';

const app = 'semaphore-service-mirror';
const reportOf = (said: Pick<AppStatus, 'drains' | 'orders'>, leader = true) => [
  { cluster: 'c1', pods: [appPod({ app, leader, ...said })] },
];

it('names drained clusters, with who drained them when, and why', () => {
  const drains = [
    { cluster: 'c2', since: '2026-01-02T03:04:05.000Z', by: 'jane', reason: 'new kernels' },
    { cluster: 'c3', since: null, by: null, reason: null },
  ];
  expect(drainedIn(reportOf({ drains }))).toEqual([
    'c1: c2 is drained since 2026-01-02T03:04:05.000Z by jane: new kernels',
    'c1: c3 is drained',
  ]);
  expect(drainedIn(reportOf({ drains }, false))).toEqual([]);
  expect(drainedIn(reportOf({ drains: null }))).toEqual([]);
});

it('says why the best level of a Service does not answer', () => {
  const levels = (...of: readonly (readonly [string, 'first' | 'standby' | undefined, string | undefined])[]) =>
    of.map(([level, role, state]) => ({ level, clusters: [], role, state }));
  const orders = {
    services: { best: 7, other: 1, none: 1 },
    moved: [
      { service: 'global shop/web', levels: levels(['local', 'standby', 'min-ready'], ['*', 'first', 'up']) },
      { service: 'import shop/pay', levels: levels(['c9', undefined, undefined], ['*', 'standby', 'not-ready']) },
    ],
  };
  expect(movedIn(reportOf({ orders }))).toEqual([
    'c1: 2 Services without the best level: global shop/web: "local" is below min-ready, "*" answers; ' +
      'import shop/pay: "*" is not ready, no endpoint is ready',
  ]);
  expect(movedIn(reportOf({ orders: { ...orders, moved: [] } }))).toEqual([]);
});
