import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { expect, it } from 'vitest';
import { costOf, versionsSince } from './observe.ts';

const object = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Service', metadata: { name } });

it.each([
  { name: 'counts one write', versions: ['a'], want: 'in 1 write (the update took 14 ms of it)' },
  { name: 'counts several writes', versions: ['a', 'b'], want: 'in 2 writes (the update took 14 ms of it)' },
])('$name', ({ versions, want }) => {
  expect(costOf({ versions, changeMs: 14 }, 'the update')).toBe(want);
});

it('tells every later version of one copy, and when it was seen', () => {
  const [before, first, second, other] = [object('a'), object('a'), object('a'), object('b')];
  const moments = [
    { atMs: 90, objects: [before] },
    { atMs: 110, objects: [before, other] },
    { atMs: 120, objects: [first, other] },
    { atMs: 130, objects: [first] },
    { atMs: 140, objects: [] },
    { atMs: 150, objects: [second] },
  ];
  expect(versionsSince({ moments }, 'a', 100)).toEqual([
    { copy: [first], ms: 20 },
    { copy: [], ms: 40 },
    { copy: [second], ms: 50 },
  ]);
});

it('counts a change of a slice as a version of its Service', () => {
  const slice = (ip: string): KubeObject => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'a-1', labels: { 'kubernetes.io/service-name': 'a' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], conditions: {} }],
  });
  const [service, old, updated] = [object('a'), slice('10.2.0.1'), slice('10.2.0.2')];
  const moments = [
    { atMs: 90, objects: [service, old] },
    { atMs: 110, objects: [service, updated] },
  ];
  expect(versionsSince({ moments }, 'a', 100)).toEqual([{ copy: [service, updated], ms: 10 }]);
});
