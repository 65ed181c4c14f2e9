import { expect, it } from 'vitest';
import { nameOf } from './names.ts';

const own = { context: 'c1', uid: 'u1' };

it.each([
  { name: 'is that of the context', uids: [], want: 'c1 from the context' },
  { name: 'is that of a flag', uids: [], given: 'east', want: 'east from --cluster-name' },
  { name: 'is that of the folder', uids: [['east', 'u1'] as const], want: 'east from link.json' },
  {
    name: 'is that of the folder and the flag',
    uids: [['east', 'u1'] as const],
    given: 'east',
    want: 'east from --cluster-name',
  },
  { name: 'is not known of a folder without a uid', uids: [['c2', 'u2'] as const], want: 'c1 from the context' },
  {
    name: 'is the one of the context, of two',
    uids: [['east', 'u1'] as const, ['c1', 'u1'] as const],
    want: 'c1 from link.json',
  },
  {
    name: 'is one of two that a flag chooses',
    uids: [['east', 'u1'] as const, ['west', 'u1'] as const],
    want: 'c1: east and west in mesh are of this cluster: set --cluster-name c1=NAME to one',
  },
  {
    name: 'can not change',
    uids: [['east', 'u1'] as const],
    given: 'west',
    want: 'c1: mesh/east is of this cluster: leave out --cluster-name c1=west, or unlink east first',
  },
  {
    name: 'is not that of another cluster',
    uids: [['c1', 'u2'] as const],
    want:
      'c1: mesh/c1 is of another cluster, by the uid of its namespace kube-system: ' +
      'if this one takes its place, set --cluster-name c1=c1; else use another name or another -o',
  },
  {
    name: 'is that of another cluster if a flag says so',
    uids: [['c1', 'u2'] as const],
    given: 'c1',
    want: 'c1 from --cluster-name',
  },
])('the name of a cluster $name', ({ uids, given, want }) => {
  const named = nameOf({ ...own, given }, { output: 'mesh', uids: new Map(uids) });
  expect(named.ok ? `${named.value} from ${named.source}` : named.problem).toBe(want);
});
