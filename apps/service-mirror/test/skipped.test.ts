import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it } from './support/it.ts';
import { argvOf, usualFlags } from './support/mirror-process.ts';

const web = { name: 'web', namespace: 'default' };
const mirror = 'c2-default-73736d-web';
const gauge = 'semaphore_service_mirror_skipped_objects';

describe('a field that has a meaning only in the remote cluster', () => {
  it('is never copied', async ({ sources, mirrors, start }) => {
    await sources.add({
      ...web,
      labels: { team: 'shop' },
      annotations: { 'example.com/note': 'theirs' },
      ports: [{ name: 'http', port: 80, targetPort: 8080, nodePort: 30_080 }],
      spec: {
        type: 'NodePort',
        externalTrafficPolicy: 'Local',
        internalTrafficPolicy: 'Local',
        externalIPs: ['192.0.2.9'],
        clusterIP: '10.96.200.1',
      },
    });
    await sources.addSlice({
      name: 'web-a',
      service: 'web',
      labels: { team: 'shop' },
      endpoints: [
        {
          addresses: ['10.4.0.1'],
          conditions: { ready: true },
          nodeName: 'n1',
          zone: 'z1',
          hints: { forZones: [{ name: 'z1' }] },
        },
      ],
    });
    await sources.patch(
      'endpointslices',
      { name: 'web-a' },
      {
        metadata: {
          annotations: { note: 'theirs' },
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Service', name: 'web', uid: await sources.uid('services', web) },
          ],
        },
      },
    );
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    const { metadata, spec } = await mirrors.service(mirror);
    expect(metadata.labels).toEqual({ 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c2' });
    expect(metadata.annotations).toEqual({ 'mirror-svc-source': 'c2/default/web' });
    expect(spec).toMatchObject({
      type: 'ClusterIP',
      internalTrafficPolicy: 'Cluster',
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
    });
    for (const field of ['externalTrafficPolicy', 'externalIPs', 'selector', 'healthCheckNodePort'])
      expect(spec).not.toHaveProperty(field);
    expect((spec as { ports: object[] }).ports[0]).not.toHaveProperty('nodePort');
    expect((spec as { clusterIP: string }).clusterIP).not.toBe('10.96.200.1');
    const [slice] = await mirrors.slices();
    expect(Object.keys(slice!.metadata.labels ?? {})).not.toContain('team');
    expect(slice!.metadata.annotations).toEqual({ 'mirror-svc-source': 'c2/default/web-a' });
    expect(slice!.metadata['ownerReferences']).toMatchObject([{ name: mirror }]);
    const conditions = { ready: true, serving: true, terminating: false };
    expect(slice!.endpoints).toEqual([{ addresses: ['10.4.0.1'], conditions }]);
  });
});

describe('what is not mirrored', () => {
  it.for([
    { name: 'a mirror', labels: { 'mirrored-svc': 'true' } },
    { name: 'a global Service', labels: { 'global-svc': 'true' } },
  ])('$name', async ({ labels }, { sources, mirrors, start }) => {
    await sources.add({ ...web, labels });
    await sources.add({ name: 'other' });
    await start();
    await mirrors.become({ 'c2-default-73736d-other': [] });
  });

  it.for([
    { name: 'a slice of a mirror', labels: { 'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror' } },
    { name: 'a slice of a global Service', labels: { 'mirrored-endpoint-slice': 'true' } },
  ])('$name', async ({ labels }, { sources, mirrors, start }) => {
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    await sources.patch('endpointslices', { name: 'web-a' }, { metadata: { labels } });
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.2'] });
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
  });

  it('a slice of host names', async ({ sources, mirrors, start }) => {
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', addressType: 'FQDN', endpoints: ['web.example.com'] });
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.2'] });
    await start();
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
    expect(await mirrors.slices()).toHaveLength(1);
  });

  it('an endpoint with an address of the local cluster, or one that no Pod can have', async ({
    sources,
    mirrors,
    start,
  }) => {
    await sources.add(web);
    // kube-apiserver accepts all of them.
    await sources.addSlice({
      name: 'web-a',
      service: 'web',
      endpoints: ['10.4.0.1', '10.2.0.1', '239.1.2.3', '255.255.255.255', '240.0.0.1'],
    });
    const program = await start({ 'allowed-pod-cidrs': undefined, 'local-cidrs': '10.2.0.0/16' });
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    await eventually(() => program.metric(gauge, { remote: 'c2', reason: 'bad-address', kind: 'problem' }), 2);
    await eventually(() => program.metric(gauge, { remote: 'c2', reason: 'address-not-allowed', kind: 'problem' }), 2);
    await program.logged('remote may announce any address: set its allowedPodCIDRs (-allowed-pod-cidrs)', {
      level: 'warn',
      cluster: 'c2',
    });
    expect(await program.metric('semaphore_service_mirror_remote_unrestricted', { remote: 'c2' })).toBe(1);
  });
});

describe('a skipped object', () => {
  it('is logged once, counted by reason, and listed by plan, and its neighbours are mirrored', async ({
    sources,
    mirrors,
    accounts,
    start,
    startWith,
  }) => {
    const long = 'a'.repeat(47);
    await sources.add(web);
    await sources.add({ name: 'away', spec: { type: 'ExternalName', externalName: 'example.com' } });
    await sources.add({ name: long });
    // A slice with an address that the remote's API server accepts, but that the remote may not announce.
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1', '192.0.2.1'] });
    const program = await start({ 'allowed-pod-cidrs': '10.4.0.0/16', 'resync-period': '50ms' });
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    const wanted = [
      { reason: 'external-name', kind: 'expected' },
      { reason: 'name-too-long', kind: 'problem' },
      { reason: 'address-not-allowed', kind: 'problem' },
    ];
    for (const labels of wanted) await eventually(() => program.metric(gauge, { remote: 'c2', ...labels }), 1);
    expect(await program.metric('semaphore_service_mirror_remote_unrestricted', { remote: 'c2' })).toBe(0);
    // It is reconciled every 50 ms, and with each of these.
    await sources.patch('services', { name: long }, { spec: { sessionAffinity: 'ClientIP' } });
    await sources.patch(
      'endpointslices',
      { name: 'web-a' },
      { endpoints: [{ addresses: ['192.0.2.1'] }, { addresses: ['10.4.0.3'] }] },
    );
    await mirrors.become({ [mirror]: ['10.4.0.3'] });
    const said = program
      .log()
      .filter(({ msg }) => msg === 'skipped')
      .map(({ reason }) => String(reason));
    expect(said.toSorted()).toEqual(['address-not-allowed', 'name-too-long']);
    // An embedded API server has no ServiceCIDRs.
    expect((await program.get('/metrics')).body).not.toMatch(
      /kube_http_request_total\{(?!.*method="GET",code="404").*code="4\d\d"/,
    );

    const plan = await startWith(['plan', ...argvOf({ ...usualFlags(accounts), 'allowed-pod-cidrs': '10.4.0.0/16' })], {
      ready: false,
    });
    expect(await plan.exited).toMatchObject({ code: 0 });
    expect(plan.stdout()).toContain('Nothing to change.');
    expect(plan.stdout()).toMatch(new RegExp(`skip! .*${long}: c2-default-73736d-${long} is 2 characters too long`));
    expect(plan.stdout()).toMatch(/skip! .*slice default\/web-a: 192\.0\.2\.1 is outside of allowedPodCIDRs/);
    expect(plan.stdout()).toMatch(/skip  .*service default\/away: /);

    // After its deletion it is not counted.
    await sources.remove('services', { name: long });
    await eventually(() => program.metric(gauge, { remote: 'c2', reason: 'name-too-long', kind: 'problem' }), 0);
  });

  it('may be a slice with a text of 600 kB, until it is valid', async ({ sources, mirrors, start }) => {
    const endpoint = (name: string) => ({
      addresses: ['10.4.0.1'],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', namespace: 'default', name },
    });
    const tooLarge = { remote: 'c2', reason: 'too-large', kind: 'problem' };
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: [endpoint('x'.repeat(600_000))] });
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.2'] });
    const program = await start();
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
    await eventually(() => program.metric(gauge, tooLarge), 1);
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [endpoint('web-0')] });
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'] });
    await eventually(() => program.metric(gauge, tooLarge), 0);
  });
});
