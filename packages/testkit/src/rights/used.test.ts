import { expect, it } from 'vitest';
import type { AuditEvent } from '../real/audit.ts';
import { rightsIn, useOf } from './used.ts';

const account = { namespace: 'kube-system', name: 'app' };
const services = { apiGroups: [''], resources: ['services'], verbs: ['list', 'delete'] };
const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] };
const grants = [
  { namespace: 'mirrors', rules: [services, leases] },
  { namespace: undefined, rules: [{ ...services, verbs: ['list'] }] },
];

function event(verb: string, objectRef: AuditEvent['objectRef'], { code = 200, name = 'app' } = {}): AuditEvent {
  const time = '2026-01-01T00:00:00.000000Z';
  return {
    verb,
    requestURI: '/',
    user: { username: `system:serviceaccount:kube-system:${name}` },
    ...(objectRef && { objectRef }),
    responseStatus: { code },
    requestReceivedTimestamp: time,
    stageTimestamp: time,
    stage: 'ResponseComplete',
  };
}

const everywhere = { resource: 'services' };
const here = { ...everywhere, namespace: 'mirrors' };
const lease = { resource: 'leases', apiGroup: 'coordination.k8s.io', namespace: 'mirrors', name: 'l' };

it('lists each granted right once', () => {
  expect(rightsIn(grants)).toEqual([
    'delete services in mirrors',
    'get leases.coordination.k8s.io in mirrors',
    'list services',
    'list services in mirrors',
  ]);
});

it.each([
  {
    name: 'rights that alone allowed a request',
    events: [event('list', everywhere), event('get', lease)],
    needed: ['get leases.coordination.k8s.io in mirrors', 'list services'],
  },
  { name: 'no right if either of two would do', events: [event('list', here)], needed: [] },
  { name: 'no right for a failed request', events: [event('get', lease, { code: 404 })], needed: [] },
  { name: "no right for another account's request", events: [event('get', lease, { name: 'other' })], needed: [] },
  { name: 'no right for a request that needs none', events: [event('get', undefined)], needed: [] },
])('finds needed $name', ({ events, needed }) => {
  expect(useOf(events, { account, grants })).toEqual({ needed, refused: [] });
});

it.each([
  { name: 'of a resource', objectRef: here, refused: ['watch services in mirrors'] },
  {
    name: 'of a subresource',
    objectRef: { ...here, subresource: 'status' },
    refused: ['watch services/status in mirrors'],
  },
  { name: 'of anything else', objectRef: undefined, refused: ['watch /'] },
])('lists refused rights $name', ({ objectRef, refused }) => {
  expect(useOf([event('watch', objectRef, { code: 403 })], { account, grants })).toEqual({ needed: [], refused });
});
