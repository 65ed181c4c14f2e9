import { expect, it } from 'vitest';
import { globalKey, importKey } from '../names.ts';
import type { LevelReport } from './desired/routing/who-answers.ts';
import { ordersReport, RoutingStates } from './routing-states.ts';

const levels = (...roles: readonly LevelReport['role'][]): readonly LevelReport[] =>
  roles.map((role, i) => ({ level: `c${i}`, clusters: [], role, state: 'up' }));

const stateOf = (...roles: readonly LevelReport['role'][]) => ({
  down: new Map<string, undefined>(),
  dueMs: undefined,
  levels: levels(...roles),
});

it('tells for how many Services another level than the best one answers, and names some', () => {
  const states = new RoutingStates(() => 0);
  states.keep(globalKey('shop', 'web'), stateOf('standby', 'first'));
  states.keep(globalKey('shop', 'best'), stateOf('first', 'second'));
  // The first level has no cluster with the Service.
  states.keep(globalKey('shop', 'absent'), stateOf(undefined, 'first'));
  states.keep(importKey('shop', 'none'), stateOf('standby', 'standby'));
  states.keep(globalKey('shop', 'gone'), stateOf('standby', 'first'));
  states.keep(globalKey('shop', 'gone'), undefined);
  expect(ordersReport(states.services())).toEqual({
    services: { best: 2, other: 1, none: 1 },
    moved: [
      { service: 'global shop/web', levels: levels('standby', 'first') },
      { service: 'import shop/none', levels: levels('standby', 'standby') },
    ],
  });
  for (let i = 0; i < 200; i++) states.keep(globalKey('shop', `web-${i}`), stateOf('standby', 'first'));
  expect(ordersReport(states.services())).toMatchObject({ services: { other: 201 }, moved: { length: 100 } });
});
