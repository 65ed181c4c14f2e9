import { expect, it, onTestFinished, vi } from 'vitest';
import { compareClusterSetId, reportClusterSetId } from './cluster-set-id.ts';

const GROUP = { preferredVersion: { groupVersion: 'about.k8s.io/v1beta1' } };
const PROPERTY = '/apis/about.k8s.io/v1beta1/clusterproperties/cluster.clusterset.k8s.io';

const client = (answers: Record<string, unknown>) => ({
  getRaw: (path: string) =>
    path in answers ? Promise.resolve(answers[path]) : Promise.reject(new Error(`404 ${path}`)),
});

const { signal } = new AbortController();
const none = () => {};

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

it('compares the id again every hour, and warns once of each that differs', async () => {
  vi.useFakeTimers({ fakeNodeBuiltins: true });
  onTestFinished(() => void vi.useRealTimers());
  const answers: Record<string, unknown> = { '/apis/about.k8s.io': GROUP };
  const says = (value: string) => void (answers[PROPERTY] = { spec: { value } });
  const differs: number[] = [];
  const warned: unknown[] = [];
  const ended = new AbortController();
  const report = reportClusterSetId(
    {
      client: client(answers) as never,
      remote: { cluster: 'c2', firstSync: Promise.resolve() },
      id: 'c2',
      log: {
        trace: none,
        debug: none,
        info: none,
        error: none,
        warn: ({ id }: { id?: unknown }) => warned.push(id),
      } as never,
      metric: { set: (_labels, value) => void differs.push(value) },
    },
    { signal: ended.signal },
  );
  says('c2');
  await vi.advanceTimersByTimeAsync(0);
  says('west');
  await vi.advanceTimersByTimeAsync(3_599_999);
  expect({ differs, warned }).toEqual({ differs: [0], warned: [] });
  await vi.advanceTimersByTimeAsync(1);
  expect({ differs, warned }).toEqual({ differs: [0, 1], warned: ['west'] });
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect({ differs, warned }).toEqual({ differs: [0, 1, 1], warned: ['west'] });
  says('c2');
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(differs).toEqual([0, 1, 1, 0]);
  ended.abort();
  await report;
  expect(vi.getTimerCount()).toBe(0);
});

it('compares the id at once when another server takes the place of the remote', async () => {
  let server = new AbortController();
  let asked = 0;
  const ended = new AbortController();
  const report = reportClusterSetId(
    {
      client: {
        get sameServer() {
          return server.signal;
        },
        getRaw: async () => ((asked += 1), { spec: { value: 'c2' } }),
      } as never,
      remote: { cluster: 'c2', firstSync: Promise.resolve() },
      id: 'c2',
      log: { debug: none, warn: none } as never,
      metric: { set: none },
    },
    { signal: ended.signal },
  );
  await vi.waitFor(() => expect(asked).toBe(2));
  const before = server;
  server = new AbortController();
  before.abort();
  await vi.waitFor(() => expect(asked).toBe(4));
  ended.abort();
  await report;
});
