import { expect, it } from 'vitest';
import type { Action } from '../desired/actions.ts';
import { groupsOf } from './carry-out.ts';

const set = (node: string, plane: 0 | 1 = 0): Action => ({
  kind: 'set-peer',
  plane,
  node,
  publicKey: node,
  keepsAlive: true,
});
const remove = (node: string): Action => ({ kind: 'remove-peer', plane: 0, node });
const route = (node: string): Action => ({ kind: 'route-node', node });

it.each([
  { name: 'the peers of one device', actions: [set('a'), set('b'), remove('c')], want: [3] },
  { name: 'those of each device', actions: [set('a'), set('a', 1), set('b', 1)], want: [1, 2] },
  { name: 'nothing across a route', actions: [set('a'), route('a'), set('b')], want: [1, 1, 1] },
  { name: 'no change of a peer with its removal', actions: [set('a'), remove('a'), set('b')], want: [1, 2] },
  { name: 'no routes', actions: [route('a'), route('b')], want: [1, 1] },
  { name: 'nothing of nothing', actions: [], want: [] },
])('groups $name', ({ actions, want }) => {
  const groups = groupsOf(actions);
  expect(groups.map(({ length }) => length)).toEqual(want);
  expect(groups.flat()).toEqual(actions);
});
