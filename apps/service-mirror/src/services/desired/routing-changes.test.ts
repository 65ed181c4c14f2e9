import { expect, it } from 'vitest';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import type { DesiredSlice } from '../../endpoints/desired/objects.ts';
import { routingChanges } from './routing-changes.ts';

const owner = { name: 'gl-a', uid: 'u' };
const slice = (service: string, zones: readonly string[] | undefined, name = `${service}-1`): DesiredSlice => ({
  name,
  labels: { 'kubernetes.io/service-name': service },
  annotations: {},
  family: 'IPv4',
  ports: [],
  endpoints: [
    {
      address: '10.4.0.1',
      otherAddresses: undefined,
      conditions: { ready: true, serving: undefined, terminating: undefined },
      hostname: undefined,
      nodeName: undefined,
      zone: undefined,
      zones,
    },
  ],
});
const observed = (desired: DesiredSlice) => ({ ...desired, uid: 'u', resourceVersion: '1', owners: ['u'] });
const change = (from: DesiredSlice, to: DesiredSlice): Change => ({
  kind: 'update-slice',
  from: observed(from),
  to,
  owner,
});
const update = (service: string, from: readonly string[] | undefined, to: readonly string[] | undefined): Change =>
  change(slice(service, from), slice(service, to));

it.each([
  {
    name: 'added hints',
    changes: [update('gl-a', undefined, ['remote'])],
    want: [{ service: 'gl-a', to: 'local-first', zones: ['remote'] }],
  },
  {
    name: 'removed hints',
    changes: [update('gl-a', ['remote'], undefined)],
    want: [{ service: 'gl-a', to: 'everywhere', zones: [] }],
  },
  {
    name: 'zones with nodes in place of one without',
    changes: [update('gl-a', ['local'], ['eu-west-1a'])],
    want: [{ service: 'gl-a', to: 'local-first', zones: ['eu-west-1a'] }],
  },
  {
    name: 'the same zones, once and twice and in another order',
    changes: [update('gl-a', ['b', 'a'], ['a', 'b', 'a'])],
    want: [],
  },
  {
    name: 'zones that move from one slice of a Service to another',
    changes: [update('gl-a', ['a'], ['b']), change(slice('gl-a', ['b'], 'gl-a-2'), slice('gl-a', ['a'], 'gl-a-2'))],
    want: [],
  },
  {
    name: 'a Service that loses its endpoints',
    changes: [change(slice('gl-a', ['a']), { ...slice('gl-a', undefined), endpoints: [] })],
    want: [],
  },
  {
    name: 'several Services, in any order',
    changes: [update('gl-b', undefined, ['a']), update('gl-a', ['a'], undefined)],
    want: [
      { service: 'gl-a', to: 'everywhere', zones: [] },
      { service: 'gl-b', to: 'local-first', zones: ['a'] },
    ],
  },
  {
    name: 'a slice of the Go program that another one replaces',
    changes: [
      { kind: 'create-slice', to: slice('gl-a', undefined), owner },
      { kind: 'delete-slice', from: observed(slice('gl-a', ['remote'])) },
    ] as const,
    want: [{ service: 'gl-a', to: 'everywhere', zones: [] }],
  },
  {
    name: 'a new Service',
    changes: [{ kind: 'create-slice', to: slice('gl-a', ['remote']), owner }] as const,
    want: [],
  },
])('finds $want in $name', ({ changes, want }) => {
  expect(routingChanges(changes)).toEqual(want);
});
