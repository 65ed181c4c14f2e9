// Both: a server sets defaults in Services that others edit, and collects garbage meanwhile.
import { eventually } from '@kube-semaphore/eventually';
import { describe, expect } from 'vitest';
import { it as itOnClusters } from '../support/it.ts';
import { argvOf, usualFlags } from '../support/mirror-process.ts';
import { mirror, startWithMirror, web } from '../support/written-mirror.ts';

const it = itOnClusters
  .extend('localOptions', { scope: 'file' }, () => ({ controllers: [] }))
  .extend('program', ({ sources, mirrors, start }) => startWithMirror({ sources, mirrors, start }));

describe('a Service that another program edited', () => {
  it.for<{ name: string; edit: object }>([
    { name: 'its ports', edit: { spec: { ports: [{ name: 'http', port: 81, targetPort: 8080 }] } } },
    { name: 'a selector', edit: { spec: { selector: { app: 'mine' } } } },
    { name: 'its type', edit: { spec: { type: 'NodePort' } } },
    { name: 'its traffic policy', edit: { spec: { internalTrafficPolicy: 'Local' } } },
    { name: 'its affinity', edit: { spec: { sessionAffinity: 'ClientIP' } } },
    { name: 'its unready addresses', edit: { spec: { publishNotReadyAddresses: true } } },
    { name: 'our annotation', edit: { metadata: { annotations: { 'mirror-svc-source': null } } } },
    {
      name: 'an annotation that only we write',
      edit: { metadata: { annotations: { 'service.kubernetes.io/topology-mode': 'auto' } } },
    },
  ])('is repaired: $name', async ({ edit }, { mirrors, program }) => {
    const content = async () => {
      const { metadata, spec } = await mirrors.service(mirror);
      // A Service keeps a few fields that have no meaning for another type.
      const { type, ports, selector, internalTrafficPolicy, sessionAffinity, publishNotReadyAddresses } =
        spec as Record<string, unknown>;
      return {
        uid: metadata.uid,
        annotations: metadata.annotations,
        spec: { type, ports, selector, internalTrafficPolicy, sessionAffinity, publishNotReadyAddresses },
      };
    };
    const before = await content();
    await mirrors.patch('services', mirror, edit);
    await program.logged('service updated', { service: mirror });
    await eventually(content, before);
    await eventually(() => program.metric('semaphore_service_mirror_repairs_total', { remote: 'c2' }), 1);
  });

  it('keeps labels and annotations of others, also after a write', async ({ sources, mirrors, program }) => {
    await mirrors.patch('services', mirror, { metadata: { labels: { team: 'shop' }, annotations: { note: 'mine' } } });
    await sources.patch('services', web, { spec: { sessionAffinity: 'ClientIP' } });
    await eventually(
      async () => ((await mirrors.service(mirror))['spec'] as { sessionAffinity: string }).sessionAffinity,
      'ClientIP',
    );
    const { metadata } = await mirrors.service(mirror);
    expect(metadata.labels).toEqual({ 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': 'c2', team: 'shop' });
    expect(metadata.annotations).toEqual({ 'mirror-svc-source': 'c2/default/web', note: 'mine' });
    expect(program.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('keeps foreign fields of its spec until its source changes', async ({
    accounts,
    sources,
    mirrors,
    program,
    startWith,
  }) => {
    const spec = async () => (await mirrors.service(mirror))['spec'] as Readonly<Record<string, unknown>>;
    await mirrors.patch('services', mirror, {
      spec: { trafficDistribution: 'PreferClose', externalIPs: ['192.0.2.7'] },
    });
    const { externalIPs, trafficDistribution } = await spec();
    expect(externalIPs).toEqual(['192.0.2.7']);
    // Before 1.30, the API server doesn't know it.
    const byHand = { externalIPs, ...(trafficDistribution !== undefined && { trafficDistribution }) };
    const plan = await startWith(['plan', ...argvOf(usualFlags(accounts))], { ready: false });
    expect(await plan.exited).toEqual({ code: 0, signal: null });
    expect(plan.stdout()).toMatch(/^Nothing to change\.\n/);
    expect(await spec()).toMatchObject(byHand);
    await sources.patch('services', web, { spec: { sessionAffinity: 'ClientIP' } });
    await eventually(async () => (await spec())['sessionAffinity'], 'ClientIP');
    for (const field of Object.keys(byHand)) expect(await spec()).not.toHaveProperty(field);
    expect((await program.metric('semaphore_service_mirror_repairs_total', { remote: 'c2' })) ?? 0).toBe(0);
    expect(program.log().filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('is not ours without our labels, and stays as it is', async ({ sources, mirrors, program }) => {
    await mirrors.patch('services', mirror, {
      metadata: { labels: { 'mirrored-svc': null } },
      spec: { ports: [{ name: 'http', port: 99 }] },
    });
    await eventually(
      () =>
        program.metric('semaphore_service_mirror_skipped_objects', {
          remote: 'c2',
          reason: 'name-taken',
          kind: 'problem',
        }),
      1,
    );
    await sources.remove('services', web);
    await sources.add({ name: 'other' });
    await mirrors.become({ [mirror]: ['10.4.0.1'], 'c2-default-73736d-other': [] });
  });
});

describe('a slice that another program edited', () => {
  it.for<{ name: string; edit: object }>([
    { name: 'its endpoints', edit: { endpoints: [{ addresses: ['10.4.9.9'] }] } },
    { name: 'its ports', edit: { ports: [{ name: 'http', port: 1, protocol: 'TCP' }] } },
    { name: 'a label that only we write', edit: { metadata: { labels: { 'mirrored-endpoint-slice': 'true' } } } },
    { name: 'its Service', edit: { metadata: { labels: { 'kubernetes.io/service-name': 'other' } } } },
    { name: 'its manager', edit: { metadata: { labels: { 'endpointslice.kubernetes.io/managed-by': 'me' } } } },
    { name: 'a label of ours', edit: { metadata: { labels: { 'mirror-svc-prefix-sync': null } } } },
    { name: 'our annotation', edit: { metadata: { annotations: { 'mirror-svc-source': 'c2/default/other' } } } },
    { name: 'its owner', edit: { metadata: { ownerReferences: null } } },
  ])('is repaired: $name', async ({ edit }, { mirrors, program }) => {
    const content = async () =>
      (await mirrors.slices()).map(
        ({ metadata: { name, uid, labels, annotations, ownerReferences }, endpoints, ports }) => ({
          name,
          uid,
          labels,
          annotations,
          ownerReferences,
          endpoints,
          ports,
        }),
      );
    const before = await content();
    await mirrors.patch('endpointslices', before[0]!.name, edit);
    await eventually(content, before);
    expect(program.log().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
  });

  it('keeps labels, annotations and finalizers of others, also after a write', async ({
    sources,
    mirrors,
    program,
  }) => {
    const marks = {
      labels: { team: 'shop' },
      annotations: { note: 'mine' },
      finalizers: ['example.com/keep'],
    };
    const [before] = await mirrors.slices();
    const { name } = before!.metadata;
    await mirrors.patch('endpointslices', name, { metadata: marks });
    await sources.patch('endpointslices', { name: 'web-a' }, { endpoints: [{ addresses: ['10.4.0.2'] }] });
    await mirrors.become({ [mirror]: ['10.4.0.2'] });
    const [slice] = await mirrors.slices();
    expect(slice!.metadata).toMatchObject(marks);
    expect((await program.metric('semaphore_service_mirror_repairs_total', { remote: 'c2' })) ?? 0).toBe(0);
    await mirrors.patch('endpointslices', name, { metadata: { finalizers: null } });
  });
});

describe('what another program deleted', () => {
  it('is created again: a Service with its slices, and a slice', async ({ mirrors, program }) => {
    const { uid } = (await mirrors.service(mirror)).metadata;
    await mirrors.remove('services', mirror);
    await eventually(async () => (await mirrors.services()).filter(({ metadata }) => metadata.uid !== uid).length, 1);
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    // The existing slice is deleted with its Service, or has a new owner.
    const { uid: newUid } = (await mirrors.service(mirror)).metadata;
    await eventually(
      async () =>
        (await mirrors.slices()).map(({ metadata }) =>
          (metadata['ownerReferences'] as { uid: string }[]).map((owner) => owner.uid),
        ),
      [[newUid]],
    );
    const [slice] = await mirrors.slices();
    const gone = slice!.metadata.uid;
    await mirrors.remove('endpointslices', slice!.metadata.name);
    await eventually(async () => (await mirrors.slices()).filter(({ metadata }) => metadata.uid !== gone).length, 1);
    await mirrors.become({ [mirror]: ['10.4.0.1'] });
    expect(program.log().filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('a foreign Service with the name', () => {
  it('is left alone, and replaced after its deletion', async ({ sources, mirrors, start }) => {
    const ports = [{ name: 'mine', port: 5432, targetPort: 5432, protocol: 'TCP' }];
    await mirrors.create('services', { metadata: { name: mirror }, spec: { ports } });
    // Also if no key wants its name.
    await mirrors.create('services', { metadata: { name: 'c2-default-73736d-nobody' }, spec: { ports } });
    const { metadata: before } = await mirrors.service(mirror);
    await sources.add(web);
    await sources.addSlice({ name: 'web-a', service: 'web', endpoints: ['10.4.0.1'] });
    await sources.add({ name: 'other' });
    const program = await start();
    await mirrors.become({ [mirror]: [], 'c2-default-73736d-nobody': [], 'c2-default-73736d-other': [] });
    await program.logged('skipped', { reason: 'name-taken' });
    expect((await mirrors.service(mirror)).metadata.resourceVersion).toBe(before.resourceVersion);
    // Its keys are reconciled before this one.
    await sources.add({ name: 'last' });
    await eventually(
      async () => Object.keys(await mirrors.endpoints()),
      ['c2-default-73736d-last', 'c2-default-73736d-nobody', 'c2-default-73736d-other', mirror],
    );
    expect((await mirrors.service(mirror)).metadata.resourceVersion).toBe(before.resourceVersion);
    await mirrors.remove('services', mirror);
    await eventually(async () => (await mirrors.endpoints())[mirror], ['10.4.0.1']);
  });
});

describe('a foreign slice with the name', () => {
  it('is left alone, with one warning, and replaced after its deletion', async ({ mirrors, sources, program }) => {
    const [ours] = await mirrors.slices();
    const name = ours!.metadata.name;
    await sources.addSlice({ name: 'web-b', service: 'web', endpoints: ['10.4.0.2'] });
    await mirrors.become({ [mirror]: ['10.4.0.1', '10.4.0.2'] });
    // Nothing shows that it was ours.
    await mirrors.patch('endpointslices', name, {
      metadata: { labels: null, annotations: null, ownerReferences: null },
    });
    const taken = {
      cluster: 'c2',
      subject: 'c2/default/web',
      reason: 'name-taken',
      detail: `the EndpointSlice ${name} exists, and isn't ours`,
    };
    await program.logged('skipped', taken);
    // Other slices are still created and deleted.
    await sources.addSlice({ name: 'web-c', service: 'web', endpoints: ['10.4.0.3'] });
    await sources.remove('endpointslices', { name: 'web-b' });
    await mirrors.become({ '': ['10.4.0.1'], [mirror]: ['10.4.0.3'] });
    expect(program.log().filter(({ msg }) => msg === 'skipped')).toHaveLength(1);
    expect(
      await program.metric('semaphore_service_mirror_skipped_objects', {
        remote: 'c2',
        reason: 'name-taken',
        kind: 'problem',
      }),
    ).toBe(1);

    await mirrors.remove('endpointslices', name);
    // No event reports that, but the key is retried after at most 10 s.
    await eventually(() => mirrors.endpoints(), { [mirror]: ['10.4.0.1', '10.4.0.3'] });
    await eventually(
      () =>
        program.metric('semaphore_service_mirror_skipped_objects', {
          remote: 'c2',
          reason: 'name-taken',
          kind: 'problem',
        }),
      0,
    );
  });
});
