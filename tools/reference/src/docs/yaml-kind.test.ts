import { expect, it } from 'vitest';
import { kindsIn } from './yaml-kind.ts';

it.each([
  {
    name: 'manifests',
    text: 'apiVersion: v1\nkind: Secret\n---\napiVersion: apps/v1\nkind: Deployment\n',
    want: [{ manifest: 'v1 Secret' }, { manifest: 'apps/v1 Deployment' }],
  },
  {
    name: 'a manifest of an unknown version',
    text: 'apiVersion: v2\nkind: Secret\n',
    want: [{ unknown: 'unknown kind: v2 Secret' }],
  },
  {
    name: 'a manifest without a version',
    text: 'kind: Secret\n',
    want: [{ unknown: 'unknown kind: undefined Secret' }],
  },
  { name: 'a config file', text: '{ "remotes": [] }', want: [{ part: 'config' }] },
  { name: 'other YAML', text: 'a: 1\nb: 2\n', want: [{ unknown: 'unknown keys: a, b' }] },
  { name: 'text', text: 'hello', want: [{ unknown: 'not a mapping: "hello"' }] },
])('tells $name', ({ text, want }) => {
  expect(kindsIn(text)).toEqual(want);
});

it('returns the error of invalid YAML', () => {
  expect(kindsIn('a: [1')).toEqual([{ unknown: expect.any(String) as string }]);
});
