import { expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { lease, object, paths, service, slice, smallPod } from './objects.ts';

/** A validation error: 422 with its causes. */
const invalid = (...causes: string[]) => ({ status: 422, reason: 'Invalid', causes });
const badName = invalid('metadata.name FieldValueInvalid');
const badLabels = invalid('metadata.labels FieldValueInvalid');
const longKey = `${'a'.repeat(63)}.b/${'c'.repeat(63)}`;
const owner = { apiVersion: 'v1', kind: 'Service', name: 'x' };
const port = (number: number, more: object = {}) => ({ port: number, ...more });
const endpoints = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ addresses: [`192.0.${i >> 8}.${i & 255}`] }));

onEachServer('a name', (server) => {
  it.each(['1a', 'A', 'a_b', '-a', 'a.b', 'a'.repeat(64)])('of a Service may not be %s', async (name) => {
    const body = service(name, { clusterIP: 'None' });
    expect(refusal(await server().send('POST', paths.services('default'), { body }))).toEqual(badName);
  });

  it.each(['A', 'a_b', '-a', 'a..b', 'a'.repeat(254)])('of a Lease may not be %s', async (name) => {
    expect(refusal(await server().send('POST', paths.leases('default'), { body: lease(name) }))).toEqual(badName);
  });

  it.each(['A', 'a.b'])('of a Namespace may not be %s', async (name) => {
    expect(refusal(await server().send('POST', '/api/v1/namespaces', { body: object('v1 Namespace', name) }))).toEqual(
      badName,
    );
  });

  it('of a ClusterRole may have almost any character', async () => {
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const role = (name: string) => object('rbac.authorization.k8s.io/v1 ClusterRole', name, { rules: [] });
    expect((await server().send('POST', path, { body: role('Team:A_b.c') })).status).toBe(201);
    expect(refusal(await server().send('POST', path, { body: role('a/b') }))).toEqual(badName);
  });
});

onEachServer('a Lease', (server) => {
  it.each([
    { time: '2026-01-01T00:00:00.123456Z', status: 201 },
    { time: '2026-01-01T00:00:00.123456+01:00', status: 201 },
    { time: '2026-01-01T00:00:00.123Z', status: 400 },
    { time: '2026-01-01T00:00:00Z', status: 400 },
    { time: 'now', status: 400 },
  ])('whose renewTime is $time is answered $status', async ({ time, status }) => {
    const body = lease('x', { renewTime: time });
    expect((await server().send('POST', paths.leases(await server().namespace()), { body })).status).toBe(status);
  });
});

onEachServer('a Lease', (server) => {
  it.each([
    { spec: { holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 }, want: 201 },
    { spec: { leaseDurationSeconds: 0 }, want: invalid('spec.leaseDurationSeconds FieldValueInvalid') },
    { spec: { leaseTransitions: -1 }, want: invalid('spec.leaseTransitions FieldValueInvalid') },
  ])('with $spec is answered $want', async ({ spec, want }) => {
    const reply = await server().send('POST', paths.leases(await server().namespace()), { body: lease('x', spec) });
    expect(typeof want === 'number' ? reply.status : refusal(reply)).toEqual(want);
  });

  it.each([
    { what: 'an empty label', metadata: { labels: { a: '' } }, want: 201 },
    { what: 'a long label', metadata: { labels: { [longKey]: 'A_b.c'.padEnd(63, 'x') } }, want: 201 },
    { what: 'a label over 63 characters', metadata: { labels: { a: 'x'.repeat(64) } }, want: badLabels },
    { what: 'a label that ends with a dash', metadata: { labels: { a: 'x-' } }, want: badLabels },
    { what: 'a space in a label', metadata: { labels: { a: 'b c' } }, want: badLabels },
    { what: 'a space in the key of a label', metadata: { labels: { 'a b': '' } }, want: badLabels },
    { what: 'a long key of a label', metadata: { labels: { ['x'.repeat(64)]: '' } }, want: badLabels },
    { what: 'two slashes in the key of a label', metadata: { labels: { 'a/b/c': '' } }, want: badLabels },
    { what: 'a capital in the domain of a label', metadata: { labels: { 'A.b/c': '' } }, want: badLabels },
    { what: 'a capital in the domain of an annotation', metadata: { annotations: { 'A.b/c': ' ' } }, want: 201 },
    {
      what: 'a space in the key of an annotation',
      metadata: { annotations: { 'a b': '' } },
      want: invalid('metadata.annotations FieldValueInvalid'),
    },
    {
      what: 'two slashes in the key of an annotation',
      metadata: { annotations: { 'a/b/c': '' } },
      want: invalid('metadata.annotations FieldValueInvalid'),
    },
    {
      what: 'an owner that does not exist',
      metadata: { ownerReferences: [{ ...owner, uid: '6f0c8f5e-8c1c-4a53-9a8e-0d5b7a3a2c11' }] },
      want: 201,
    },
    {
      what: 'an owner without a UID',
      metadata: { ownerReferences: [owner] },
      want: invalid('metadata.ownerReferences.uid FieldValueInvalid'),
    },
  ])('with $what is answered $want, like every kind', async ({ metadata, want }) => {
    const body = lease('x', {}, metadata);
    const reply = await server().send('POST', paths.leases(await server().namespace()), { body });
    expect(typeof want === 'number' ? reply.status : refusal(reply)).toEqual(want);
  });
});

onEachServer('a Service', (server) => {
  const create = async (body: unknown) => server().send('POST', paths.services(await server().namespace()), { body });

  it.each([
    { what: 'no port', spec: {}, want: invalid('spec.ports FieldValueRequired') },
    {
      what: 'two ports, one without a name',
      spec: { ports: [port(80), port(81, { name: 'b' })] },
      want: invalid('spec.ports[0].name FieldValueRequired'),
    },
    {
      what: 'two ports with one number and protocol',
      spec: { ports: [port(80, { name: 'a' }), port(80, { name: 'b' })] },
      want: invalid('spec.ports[1] FieldValueDuplicate'),
    },
  ])('may not have $what', async ({ spec, want }) => {
    expect(refusal(await create(service('x', spec)))).toEqual(want);
  });

  it('gets an address and the other defaults', async () => {
    const { spec, status } = read(await create(service('x', { ports: [port(80)] }))) as unknown as {
      spec: Record<string, unknown>;
      status: unknown;
    };
    const { clusterIP } = spec;
    expect(clusterIP).toMatch(/^10\.\d+\.\d+\.\d+$/);
    expect({ spec, status }).toEqual({
      spec: {
        type: 'ClusterIP',
        clusterIP,
        clusterIPs: [clusterIP],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
        internalTrafficPolicy: 'Cluster',
        sessionAffinity: 'None',
        ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
      },
      status: { loadBalancer: {} },
    });
  });

  it.each([
    { what: 'with a selector', spec: { selector: { a: 'b' } }, ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
    { what: 'without one', spec: {}, ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
  ])('that is headless and $what is $ipFamilyPolicy', async ({ spec, ipFamilies, ipFamilyPolicy }) => {
    const made = read(await create(service('x', { clusterIP: 'None', ...spec })));
    expect(made['spec']).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'], ipFamilies, ipFamilyPolicy });
  });

  it('of type ExternalName has no address', async () => {
    const made = read(await create(service('x', { type: 'ExternalName', externalName: 'example.com' })));
    expect(made['spec']).toEqual({ type: 'ExternalName', externalName: 'example.com', sessionAffinity: 'None' });
  });

  it('keeps its address if an update omits it, and cannot lose or change it', async () => {
    const services = paths.services(await server().namespace());
    const put = (spec: object) =>
      server().send('PUT', `${services}/x`, { body: service('x', { ports: [port(81)], ...spec }) });
    const { clusterIP } = (await server().cluster.admin.create(services, service('x', { ports: [port(80)] })))[
      'spec'
    ] as {
      clusterIP: string;
    };
    expect(read(await put({}))['spec']).toMatchObject({ clusterIP, ports: [{ port: 81 }] });
    expect(read(await put({ clusterIP, clusterIPs: [clusterIP] }))['spec']).toMatchObject({ clusterIP });
    expect(refusal(await put({ clusterIP: 'None' }))).toEqual(invalid('spec.clusterIPs[0] FieldValueInvalid'));
    expect(refusal(await put({ ipFamilies: ['IPv6'] }))).toEqual(invalid('spec.clusterIPs[0] FieldValueInvalid'));
  });

  it('that is headless cannot get an address', async () => {
    const services = paths.services(await server().namespace());
    await server().cluster.admin.create(services, service('x', { clusterIP: 'None', ports: [port(80)] }));
    const spec = { clusterIP: '10.96.0.77', clusterIPs: ['10.96.0.77'], ports: [port(80)], ipFamilies: ['IPv4'] };
    expect(refusal(await server().send('PUT', `${services}/x`, { body: service('x', spec) }))).toMatchObject({
      status: 422,
    });
  });
});

onEachServer('an EndpointSlice', (server) => {
  it.each([
    { what: '1,000 endpoints', rest: { endpoints: endpoints(1000) }, want: 201 },
    { what: '1,001 endpoints', rest: { endpoints: endpoints(1001) }, want: invalid('endpoints FieldValueTooMany') },
    { what: 'no address type', rest: { addressType: undefined }, want: invalid('addressType FieldValueRequired') },
    {
      what: 'hints for nine zones',
      rest: {
        endpoints: [
          { addresses: ['192.0.2.1'], hints: { forZones: Array.from({ length: 9 }, (_, i) => ({ name: `z${i}` })) } },
        ],
      },
      want: invalid('endpoints[0].hints.forZones FieldValueTooMany'),
    },
  ])('with $what is answered $want', async ({ rest, want }) => {
    const reply = await server().send('POST', paths.slices(await server().namespace()), { body: slice('x', rest) });
    expect(typeof want === 'number' ? reply.status : refusal(reply)).toEqual(want);
  });

  it('gets empty conditions and the protocol, and keeps its address type', async () => {
    const slices = paths.slices(await server().namespace());
    const made = await server().cluster.admin.create(
      slices,
      slice('x', { endpoints: endpoints(1), ports: [port(80)] }),
    );
    expect(made).toMatchObject({
      endpoints: [{ addresses: ['192.0.0.0'], conditions: {} }],
      ports: [{ name: '', protocol: 'TCP', port: 80 }],
    });
    expect(refusal(await server().send('PUT', `${slices}/x`, { body: slice('x', { addressType: 'IPv6' }) }))).toEqual(
      invalid('addressType FieldValueInvalid'),
    );
  });
});

onEachServer('what is too large', (server) => {
  const bytes = (count: number) => 'x'.repeat(count);

  it('is refused for a body over 3 MiB, an object over 1.5 MiB, annotations over 256 KiB', async () => {
    const leases = paths.leases(await server().namespace());
    const pods = leases.replace('/apis/coordination.k8s.io/v1', '/api/v1').replace(/leases$/, 'pods');
    const pod = (size: number) =>
      smallPod('x', {}, { containers: [{ name: 'app', image: 'app:1', args: [bytes(size)] }] });
    expect([
      refusal(await server().send('POST', pods, { body: pod(3 * 1024 * 1024) })),
      refusal(await server().send('POST', pods, { body: pod(1_600_000) })),
      refusal(await server().send('POST', leases, { body: lease('x', {}, { annotations: { a: bytes(300_000) } }) })),
    ]).toEqual([
      { status: 413, reason: 'RequestEntityTooLarge' },
      { status: 500, reason: undefined },
      invalid('metadata.annotations FieldValueTooLong'),
    ]);
    expect((await server().send('POST', pods, { body: pod(1_400_000) })).status).toBe(201);
  });
});
