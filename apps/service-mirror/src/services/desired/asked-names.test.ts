import { describe, expect, it } from 'vitest';
import type { LocalObjects } from '../local/objects.ts';
import { askedNames } from './asked-names.ts';

type Local = Pick<LocalObjects, 'services' | 'slices'>;

/** A mirror of the remote c2 with the prefix c2, which has a ready endpoint. */
const mirror = (name: string, change: object = {}) => ({
  name: `c2-shop-73736d-${name}`,
  labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c2' },
  annotations: { 'mirror-svc-source': `c2/shop/${name}` },
  createdAt: 1_000,
  ip: '10.96.0.3',
  isTerminating: false,
  isReady: true,
  ...change,
});
const global = mirror('all', {
  labels: { 'global-svc': 'true' },
  annotations: { 'mirror-svc-source': 'global/shop/all' },
  ip: '10.96.0.4',
});
const prefixes = new Map([['c2', 'c2']]);

const asked = (services: readonly ReturnType<typeof mirror>[], change: object = {}) => {
  const slices = (name: string) => [
    { endpoints: [{ conditions: { ready: services.find((service) => service.name === name)?.isReady } }] },
  ];
  const local = { services: () => services, slices } as unknown as Local;
  return askedNames(local, { prefixes, hasGlobals: false, ...change });
};
const web = { remote: 'c2', name: 'web.shop.svc.cluster.c2', address: '10.96.0.3' };

describe('the names that are asked', () => {
  it('are of the oldest mirror of each remote, whatever their order, and of a global Service', () => {
    const ofC3 = mirror('web', {
      labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c3' },
      annotations: { 'mirror-svc-source': 'c3/shop/web' },
      ip: 'fd00::3',
    });
    const services = [mirror('db'), mirror('web'), mirror('web', { createdAt: 2_000 }), mirror('zoo'), ofC3, global];
    const [newDb, ...others] = services;
    const all = [{ ...newDb!, createdAt: 3_000 }, ...others];
    const settings = { prefixes: new Map(['c2', 'c3', 'c4'].map((name) => [name, name])), hasGlobals: true };
    const want = [
      web,
      { remote: 'c3', name: 'web.shop.svc.cluster.c3', address: 'fd00::3' },
      { remote: 'global', name: 'all.shop.svc.cluster.global', address: '10.96.0.4' },
    ];
    expect(asked(all, settings)).toEqual(want);
    expect(asked(all.toReversed(), settings)).toEqual(want);
  });

  it('have the prefix of the remote, too, if it is another one', () => {
    const services = [mirror('web', { labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'p2' } })];
    expect(asked(services, { prefixes: new Map([['c2', 'p2']]) })).toEqual([
      web,
      { ...web, name: 'web.shop.svc.cluster.p2' },
    ]);
  });

  it.each([
    { name: 'without an address', change: { ip: undefined } },
    { name: 'without a ready endpoint', change: { isReady: false } },
    { name: 'that is being deleted', change: { isTerminating: true } },
    { name: 'without the name of its source, as of a Go program', change: { annotations: {} } },
    { name: 'of another program', change: { labels: {} } },
    { name: 'of a remote that left', change: { labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c9' } } },
  ])('are not of a Service $name', ({ change }) => {
    expect(asked([mirror('app', change), mirror('web')])).toEqual([web]);
    expect(asked([mirror('app', change)])).toEqual([]);
  });

  it('are not of global Services that the config no longer has', () => {
    expect(asked([global])).toEqual([]);
  });
});
