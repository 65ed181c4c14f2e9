import { expect, it } from 'vitest';
import { parseFlowEnd, parseFlowPort } from './flow.ts';

it.each([
  { raw: 'c2/beta/pod/web', want: { kind: 'pod', cluster: 'c2', namespace: 'beta', name: 'web' } },
  { raw: 'beta/deployment/web', want: { kind: 'deployment', cluster: undefined, namespace: 'beta', name: 'web' } },
  { raw: 'c2/namespace/beta', want: { kind: 'namespace', cluster: 'c2', namespace: 'beta', name: 'beta' } },
  { raw: 'namespace/beta', want: { kind: 'namespace', cluster: undefined, namespace: 'beta', name: 'beta' } },
  { raw: '10.0.0.1', want: { kind: 'address', ip: '10.0.0.1' } },
  { raw: 'fd00::1', want: { kind: 'address', ip: 'fd00::1' } },
])('an end of a flow can be $raw', ({ raw, want }) => {
  expect(parseFlowEnd(raw)).toEqual({ ok: true, value: want });
});

it.each([
  '',
  'web',
  'pod/web',
  'beta/job/web',
  'a/c2/beta/pod/web',
  'beta//pod/web',
  'a/c2/namespace/beta',
  'beta/pod/',
])('an end of a flow cannot be "%s"', (raw) => {
  expect(parseFlowEnd(raw)).toMatchObject({ ok: false });
});

it.each([
  { raw: '5432', want: { port: 5432, protocol: 'TCP' } },
  { raw: '53/udp', want: { port: 53, protocol: 'UDP' } },
])('a port can be $raw', ({ raw, want }) => {
  expect(parseFlowPort(raw)).toEqual({ ok: true, value: want });
});

it.each(['', '0', '65536', 'http', '80/ICMP', '80/'])('a port cannot be "%s"', (raw) => {
  expect(parseFlowPort(raw)).toMatchObject({ ok: false });
});
