import { expect, it } from 'vitest';
import { changeEvent } from './change-facts.ts';

const set = {
  name: 'c2-ns-app',
  uid: 'u',
  resourceVersion: '1',
  labels: {},
  annotations: {},
  nets: ['10.0.0.1/32', '10.0.0.2/32'],
};

it.each([
  { change: { kind: 'create', to: set }, event: 'set created', facts: { set: 'c2-ns-app', nets: 2 } },
  {
    change: { kind: 'update', from: set, to: { ...set, nets: ['10.0.0.2/32', '10.0.0.3/32', '10.0.0.4/32'] } },
    event: 'set updated',
    facts: { set: 'c2-ns-app', nets: 3, added: 2, removed: 1 },
  },
  { change: { kind: 'delete', from: set }, event: 'set deleted', facts: { set: 'c2-ns-app', removed: 2 } },
] as const)('logs "$event"', ({ change, event, facts }) => {
  expect(changeEvent(change)).toEqual({ event, facts });
});
