import { describe, expect } from 'vitest';
import { it } from './support/it.ts';

const web = { name: 'web', namespace: 'default' };

describe('a remote Service', () => {
  it('is mirrored with its endpoints until it is deleted', async ({ sources, mirrors, start }) => {
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1', '10.4.0.2'] });
    await start();
    await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.1', '10.4.0.2'] });
    await sources.patch(
      'endpointslices',
      { name: 'web-a' },
      { endpoints: [{ addresses: ['10.4.0.3'], conditions: { ready: true } }] },
    );
    await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.3'] });
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['fd00::1'] });
    await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.3', 'fd00::1'] });
    await sources.remove('endpointslices', { name: 'web-a' });
    await mirrors.become({ 'c2-default-73736d-web': ['fd00::1'] });
    await sources.remove('services', web);
    await mirrors.become({});
    expect(await mirrors.slices()).toEqual([]);
  });

  it('has a mirror with the documented name, labels and annotations', async ({ sources, mirrors, start }) => {
    await sources.add({
      ...web,
      spec: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } },
    });
    await sources.addSlice({
      name: 'web-a',
      service: 'web',
      endpoints: [
        { addresses: ['10.4.0.1'], conditions: { ready: true }, nodeName: 'n1', zone: 'z1', hostname: 'web-0' },
      ],
    });
    await start();
    await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.1'] });
    const service = await mirrors.service('c2-default-73736d-web');
    expect(service.metadata.labels).toEqual({ 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c2' });
    expect(service.metadata.annotations).toEqual({ 'mirror-svc-source': 'c2/default/web' });
    expect(service['spec']).toMatchObject({
      type: 'ClusterIP',
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    });
    const [slice] = await mirrors.slices();
    expect(slice!.metadata).toMatchObject({
      name: expect.stringMatching(/^c2-default-73736d-web-[0-9a-f]{20}$/),
      labels: {
        'mirrored-svc': 'true',
        'mirror-svc-prefix-sync': 'c2',
        'kubernetes.io/service-name': 'c2-default-73736d-web',
        'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
      },
      annotations: { 'mirror-svc-source': 'c2/default/web-a' },
      ownerReferences: [{ kind: 'Service', name: 'c2-default-73736d-web', uid: service.metadata.uid }],
    });
    expect(slice!.endpoints).toEqual([
      { addresses: ['10.4.0.1'], conditions: { ready: true, serving: true, terminating: false }, hostname: 'web-0' },
    ]);
  });

  it('causes no write if nothing differs, and a repair if the mirror was edited', async ({
    sources,
    mirrors,
    start,
  }) => {
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    const first = await start();
    await mirrors.become({ 'c2-default-73736d-web': ['10.4.0.1'] });
    await first.stop();
    const before = await mirrors.slices();
    const second = await start();
    await second.logged('services listed', { cluster: 'c2' });
    expect(await mirrors.slices()).toEqual(before);
    expect(second.log().filter(({ msg }) => /created|updated|deleted/.test(msg))).toEqual([]);
  });
});
