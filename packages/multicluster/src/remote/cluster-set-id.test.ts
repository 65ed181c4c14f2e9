import { expect, it } from 'vitest';
import { compareClusterSetId } from './cluster-set-id.ts';

const GROUP = { preferredVersion: { groupVersion: 'about.k8s.io/v1beta1' } };
const PROPERTY = '/apis/about.k8s.io/v1beta1/clusterproperties/cluster.clusterset.k8s.io';

const client = (answers: Record<string, unknown>) => ({
  getRaw: (path: string) =>
    path in answers ? Promise.resolve(answers[path]) : Promise.reject(new Error(`404 ${path}`)),
});

const { signal } = new AbortController();

it.each([
  {
    name: 'has the same id',
    answers: { '/apis/about.k8s.io': GROUP, [PROPERTY]: { spec: { value: 'c2' } } },
    want: { kind: 'same' },
  },
  {
    name: 'has another id',
    answers: { '/apis/about.k8s.io': GROUP, [PROPERTY]: { spec: { value: 'west' } } },
    want: { kind: 'different', id: 'west' },
  },
  { name: 'has no About API', answers: {}, want: { kind: 'unknown' } },
  { name: 'has no id', answers: { '/apis/about.k8s.io': GROUP }, want: { kind: 'unknown' } },
  {
    name: 'has a property without a value',
    answers: { '/apis/about.k8s.io': GROUP, [PROPERTY]: {} },
    want: { kind: 'unknown' },
  },
])('recognizes a remote that $name', async ({ answers, want }) => {
  expect(await compareClusterSetId(client(answers), 'c2', { signal })).toMatchObject(want);
});
