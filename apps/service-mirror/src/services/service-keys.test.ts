import { expect, it } from 'vitest';
import type { SourceService } from '../endpoints/desired/source.ts';
import { ServiceKeys } from './service-keys.ts';

const service = (name: string) => ({ uid: 'u', namespace: 'ns', name, createdAt: 1 }) as SourceService;

it('forgets what a remote that left the config had: its names, what was seen of it, and its limit', () => {
  const remote = (name: string) => ({ settings: { name, prefix: name } });
  const keys = new ServiceKeys({
    remotes: { all: [remote('c2'), remote('c3')] },
    options: { maxRemoteServices: 1 },
    local: { service: () => undefined, slices: () => [] },
    metrics: { remoteOverBudget: { set: () => undefined } } as never,
  });
  for (const cluster of ['c2', 'c3'])
    for (const name of ['web', 'db']) keys.changed(service(name), { cluster, use: 'mirror', isRemoved: false });
  for (const cluster of ['c2', 'c3']) keys.changed(service('web'), { cluster, use: 'global', isRemoved: false });
  const known = () => ({
    claimants: keys.claimants('c2-ns-73736d-web'),
    seen: [keys.wasSeen('c2/ns/web'), keys.wasSeen('global/ns/web')],
    services: keys.servicesOf('c2'),
    waiting: keys.overBudget('c2/ns/db', 'c2').length,
  });
  expect(known()).toEqual({ claimants: ['c2/ns/web'], seen: [true, true], services: 1, waiting: 1 });
  expect(keys.forget('c2')).toEqual(['c2/ns/web', 'c2/ns/db', 'global/ns/web']);
  expect(known()).toEqual({ claimants: [], seen: [false, true], services: 0, waiting: 0 });
  keys.forgetSeen('global/ns/web');
  expect(keys.wasSeen('global/ns/web')).toBe(false);
  expect(keys.wasSeen('c3/ns/web')).toBe(true);
  keys.forget('c3');
  expect(keys.wasSeen('c3/ns/web')).toBe(false);
});
