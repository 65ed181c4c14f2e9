import { expect, it } from 'vitest';
import { kindsIn } from './yaml-kind.ts';

it.each([
  {
    name: 'manifests',
    text: 'apiVersion: v1\nkind: Secret\n---\napiVersion: apps/v1\nkind: Deployment\n',
    want: [{ manifest: 'v1 Secret' }, { manifest: 'apps/v1 Deployment' }],
  },
  {
    name: 'one of a version that there is not',
    text: 'apiVersion: v2\nkind: Secret\n',
    want: [{ unknown: 'no kind that is known here: v2 Secret' }],
  },
  {
    name: 'one without a version',
    text: 'kind: Secret\n',
    want: [{ unknown: 'no kind that is known here: undefined Secret' }],
  },
  { name: 'a config file', text: '{ "remotes": [] }', want: [{ part: 'config' }] },
  { name: 'whatever else', text: 'a: 1\nb: 2\n', want: [{ unknown: 'nothing that is known here: a, b' }] },
  { name: 'text', text: 'hello', want: [{ unknown: 'no mapping: "hello"' }] },
])('tells $name', ({ text, want }) => {
  expect(kindsIn(text)).toEqual(want);
});

it('tells what is wrong with YAML', () => {
  expect(kindsIn('a: [1')).toEqual([{ unknown: expect.any(String) as string }]);
});
