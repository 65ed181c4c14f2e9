import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it } from './support/it.ts';
import { argvOf, usualFlags } from './support/mirror-process.ts';
import { writesOf } from './support/requests.ts';
import type { Slice } from './support/slices.ts';

const web = { name: 'web', namespace: 'default' };
const mirror = 'c2-default-73736d-web';

/** Fields that the API server fills in, and a test ignores. */
type Spec = Readonly<Record<string, unknown>>;

describe('a mirror', () => {
  it('has the ports of its source, with their names, numbers and protocols', async ({ sources, mirrors, start }) => {
    const ports = [
      { name: 'http', port: 80, targetPort: 'web', protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
      { name: 'dns', port: 53, targetPort: 5353, protocol: 'UDP' },
      { name: 'dns-tcp', port: 53, targetPort: 5353, protocol: 'TCP' },
    ];
    const slicePorts = [
      { name: 'http', port: 8080, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' },
      { name: 'dns', port: 5353, protocol: 'UDP' },
      { name: 'dns-tcp', port: 5353, protocol: 'TCP' },
    ];
    await sources.add({ ...web, ports });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'], ports: slicePorts });
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    expect((await mirrors.service(mirror))['spec']).toMatchObject({ type: 'ClusterIP', ports });
    expect((await mirrors.slices())[0]!['ports']).toEqual(slicePorts);
  });

  it('follows a port that is renamed, renumbered, and joined by another, with an update', async ({
    sources,
    mirrors,
    start,
  }) => {
    await sources.add({ ...web, ports: [{ port: 80, targetPort: 8080 }] });
    await start();
    await mirrors.become({ [mirror]: [] });
    const { uid } = (await mirrors.service(mirror)).metadata;
    for (const ports of [
      [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      [{ name: 'web', port: 80, targetPort: 8080, protocol: 'TCP' }],
      [{ name: 'web', port: 81, targetPort: 8080, protocol: 'TCP' }],
      [{ name: 'web', port: 81, targetPort: 8080, protocol: 'UDP' }],
      [
        { name: 'web', port: 81, targetPort: 8080, protocol: 'UDP' },
        { name: 'metrics', port: 9090, targetPort: 9090, protocol: 'TCP' },
      ],
    ]) {
      await sources.patch('services', web, { spec: { ports } });
      await eventually(async () => ((await mirrors.service(mirror))['spec'] as Spec)['ports'], ports);
    }
    expect((await mirrors.service(mirror)).metadata.uid).toBe(uid);
  });

  it('has the session affinity of its source, and publishes the same unready addresses', async ({
    sources,
    mirrors,
    start,
  }) => {
    await sources.add({
      ...web,
      spec: {
        sessionAffinity: 'ClientIP',
        sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
        publishNotReadyAddresses: true,
      },
    });
    await start();
    await mirrors.become({ [mirror]: [] });
    const said = async () => {
      const {
        sessionAffinity,
        sessionAffinityConfig = null,
        publishNotReadyAddresses = false,
      } = (await mirrors.service(mirror))['spec'] as Spec;
      return { sessionAffinity, sessionAffinityConfig, publishNotReadyAddresses };
    };
    expect(await said()).toEqual({
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      publishNotReadyAddresses: true,
    });
    await sources.patch('services', web, { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 90 } } } });
    await eventually(said, {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 90 } },
      publishNotReadyAddresses: true,
    });
    await sources.patch('services', web, {
      spec: { sessionAffinity: 'None', sessionAffinityConfig: null, publishNotReadyAddresses: false },
    });
    await eventually(said, { sessionAffinity: 'None', sessionAffinityConfig: null, publishNotReadyAddresses: false });
  });

  it('is headless if its source is, with hostnames and the DNS names of Pods', async ({ sources, mirrors, start }) => {
    await sources.add({ ...web, headless: true });
    const conditions = { ready: true, serving: true, terminating: false };
    const endpoints = [
      {
        addresses: ['10.4.0.1'],
        conditions,
        hostname: 'web-0',
        targetRef: { kind: 'Pod', namespace: 'default', name: 'web-0', uid: 'u-1', resourceVersion: '7' },
      },
      { addresses: ['10.4.0.2'], conditions: { ready: false, serving: true, terminating: true }, hostname: 'web-1' },
    ];
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints });
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    expect((await mirrors.service(mirror))['spec']).toMatchObject({ clusterIP: 'None' });
    const [slice] = await mirrors.slices();
    expect(slice!.metadata.labels).toMatchObject({ 'service.kubernetes.io/headless': '' });
    expect(slice!.endpoints).toEqual([
      { addresses: ['10.4.0.1'], conditions, hostname: 'web-0' },
      { addresses: ['10.4.0.2'], conditions: { ready: false, serving: true, terminating: true }, hostname: 'web-1' },
    ]);
  });

  it('has no targetRef, and the names of Pods as hostnames only if it is headless', async ({
    sources,
    mirrors,
    start,
  }) => {
    const endpoints = [
      { addresses: ['10.4.0.1'], targetRef: { kind: 'Pod', namespace: 'default', name: 'web-7d4b9' } },
    ];
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints });
    await sources.add({ name: 'db', headless: true });
    await sources.addSlice({ name: 'db-a', service: 'db', endpoints });
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'], 'c2-default-73736d-db': ['10.4.0.1'] });
    const conditions = { ready: true, serving: true, terminating: false };
    const written = async (service: string) => (await mirrors.slices(service))[0]!.endpoints;
    expect(await written(mirror)).toEqual([{ addresses: ['10.4.0.1'], conditions }]);
    expect(await written('c2-default-73736d-db')).toEqual([
      { addresses: ['10.4.0.1'], conditions, hostname: 'web-7d4b9' },
    ]);
  });

  it('has only ports with a number if it has an address, and plan says what it lacks', async ({
    accounts,
    sources,
    mirrors,
    start,
    startWith,
  }) => {
    const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }, { name: 'all' }];
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'], ports });
    await sources.add({ name: 'db', headless: true });
    await sources.addSlice({ name: 'db-a', service: 'db', endpoints: ['10.4.0.1'], ports });
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'], 'c2-default-73736d-db': ['10.4.0.1'] });
    const written = async (service: string) =>
      ((await mirrors.slices(service))[0]!['ports'] as { readonly name: string }[]).map(({ name }) => name);
    expect(await written(mirror)).toEqual(['http']);
    expect(await written('c2-default-73736d-db')).toEqual(['http', 'all']);
    const plan = await startWith(['plan', ...argvOf(usualFlags(accounts))], { ready: false });
    expect(await plan.exited).toMatchObject({ code: 0 });
    expect(plan.stdout()).toMatch(/skip! .*its slice default\/web-a has a port without a number, which is skipped/);
  });

  it('of an older build is updated once, and never without endpoints', async ({ sources, mirrors, history, start }) => {
    const targetRef = { kind: 'Pod', namespace: 'default', name: 'web-0' };
    await sources.add({ ...web, headless: true });
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: [{ addresses: ['10.4.0.1'], targetRef }] });
    const first = await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await first.stop();
    const [{ metadata }] = (await mirrors.slices()) as [Slice];
    const old = [{ addresses: ['10.4.0.1'], conditions: {}, targetRef: { kind: 'Pod', name: 'web-0' } }];
    await mirrors.patch('endpointslices', metadata.name, { endpoints: old });
    const second = await start();
    const conditions = { ready: true, serving: true, terminating: false };
    const endpoints = async () => (await mirrors.slices()).map((slice) => slice.endpoints);
    await eventually(endpoints, [[{ addresses: ['10.4.0.1'], conditions, hostname: 'web-0' }]]);
    expect((await mirrors.slices())[0]!.metadata.uid).toBe(metadata.uid);
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.2'] });
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'] });
    expect(await writesOf(second)).toBe(2);
    await history.caughtUp();
    expect(history.addressGaps(mirror)).toEqual([]);
  });
});
