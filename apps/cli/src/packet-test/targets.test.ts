import type { IpFamily } from '@kube-semaphore/net';
import { describe, expect, it } from 'vitest';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { addressesIn, mirrorLabels, type Site, targetsOf } from './targets.ts';

const mirror = (
  name: string,
  remote: string,
  prefix: string,
  { mirrorSelector = 'mirror=true', families }: { mirrorSelector?: string; families?: IpFamily[] } = {},
) => {
  const remotes = [remoteStatus({ name: remote, config: { servicePrefix: prefix, families } })];
  const config = { name, mirrorNamespace: 'sys-semaphore', mirrorSelector };
  return appPod({ app: 'semaphore-service-mirror', config, remotes });
};
const here = { cluster: 'admin@one', pods: [mirror('c1', 'c2', 'p2')], ips: ['10.2.0.1'] };
const there = { cluster: 'admin@two', pods: [mirror('c2', 'c1', 'p1')], ips: ['10.4.0.1', 'fd00:4::1'] };
const service = { name: 'web', namespace: 'shop' };

describe('targetsOf', () => {
  it('leads to each address, to the mirror, and to its DNS name, by the names that the clusters give to themselves', () => {
    expect(targetsOf(here, [there], service)).toEqual([
      { to: 'admin@two', by: 'pod', url: 'http://10.4.0.1:8080/' },
      { to: 'admin@two', by: 'pod', url: 'http://[fd00:4::1]:8080/' },
      { to: 'admin@two', by: 'service', url: 'http://p2-shop-73736d-web.sys-semaphore.svc:8080/' },
      { to: 'admin@two', by: 'name', url: 'http://web.shop.svc.cluster.p2:8080/' },
    ]);
  });

  it('leads only to addresses of a family that one of both uses', () => {
    const from = { ...here, pods: [mirror('c1', 'c2', 'p2', { families: [6] })] };
    const to = { ...there, pods: [mirror('c2', 'c1', 'p1', { families: [6] })] };
    const urls = (by: Site) => targetsOf(by, [to], service).flatMap(({ by: way, url }) => (way === 'pod' ? [url] : []));
    expect(urls(from)).toEqual(['http://[fd00:4::1]:8080/']);
    expect(urls(here)).toEqual(['http://10.4.0.1:8080/', 'http://[fd00:4::1]:8080/']);
  });

  it('leads only to addresses without a mirror', () => {
    const found = targetsOf({ ...here, pods: [] }, [there], service);
    expect(found.map(({ by }) => by)).toEqual(['pod', 'pod']);
  });
});

it('leads only to addresses, whatever a cluster says', () => {
  const said = ['evil.example/#', '10.4.0.1', '10.4.0.2'].map((ip) => ({ ip }));
  expect([addressesIn(said), addressesIn()]).toEqual([['10.4.0.1'], []]);
});

it('labels the Service as the mirrors select it, if others can store that', () => {
  const hostile = mirror('c3', 'c1', 'p1', { mirrorSelector: `other=yes,x/y/z=1,long=${'a'.repeat(64)}` });
  expect(mirrorLabels([here, { pods: [hostile] }])).toEqual({ mirror: 'true', other: 'yes' });
});
