import { expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { paths, service } from './objects.ts';

const invalid = (...causes: string[]) => ({ status: 422, reason: 'Invalid', causes });
const port = (number: number, more: object = {}) => ({ port: number, ...more });
/** A domain of 253 characters and a name of 63. */
const longest = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(61)}/${'e'.repeat(63)}`;
const hints = 'service.kubernetes.io/topology-aware-hints';
const mode = 'service.kubernetes.io/topology-mode';

onEachServer('a port of a Service', (server) => {
  it.each([
    {
      what: 'no port number',
      ports: [{ name: 'a' }],
      want: invalid('spec.ports[0].port FieldValueInvalid', 'spec.ports[0].targetPort FieldValueInvalid'),
    },
    {
      what: 'a port number that is too large',
      ports: [port(65_536)],
      want: invalid('spec.ports[0].port FieldValueInvalid', 'spec.ports[0].targetPort FieldValueInvalid'),
    },
    { what: 'another target', ports: [port(80, { targetPort: 8080 })], want: 201 },
    { what: 'a target by name', ports: [port(80, { targetPort: 'web' })], want: 201 },
    {
      what: 'a target that is too large',
      ports: [port(80, { targetPort: 70_000 })],
      want: invalid('spec.ports[0].targetPort FieldValueInvalid'),
    },
    { what: 'another protocol', ports: [port(80, { protocol: 'SCTP' })], want: 201 },
    {
      what: 'an unknown protocol',
      ports: [port(80, { protocol: 'tcp' })],
      want: invalid('spec.ports[0].protocol FieldValueNotSupported'),
    },
    {
      what: 'an invalid name',
      ports: [port(80, { name: 'A_b' })],
      want: invalid('spec.ports[0].name FieldValueInvalid'),
    },
    {
      what: 'a duplicate name',
      ports: [port(80, { name: 'a' }), port(81, { name: 'a' })],
      want: invalid('spec.ports[1].name FieldValueDuplicate'),
    },
    {
      what: 'one number for two protocols',
      ports: [port(53, { name: 'a' }), port(53, { name: 'b', protocol: 'UDP' })],
      want: 201,
    },
    { what: 'the longest appProtocol', ports: [port(80, { appProtocol: longest })], want: 201 },
    {
      what: 'an appProtocol that is too long',
      ports: [port(80, { appProtocol: `${longest}e` })],
      want: invalid('spec.ports[0].appProtocol FieldValueInvalid'),
    },
    {
      what: 'a thousand ports',
      ports: Array.from({ length: 1_000 }, (_, i) => port(1_000 + i, { name: `p-${i}`, appProtocol: longest })),
      want: 201,
    },
    { what: 'an appProtocol', ports: [port(80, { appProtocol: 'kubernetes.io/h2c' })], want: 201 },
    {
      what: 'an empty appProtocol',
      ports: [port(80, { appProtocol: '' })],
      want: invalid('spec.ports[0].appProtocol FieldValueInvalid'),
    },
    {
      what: 'a nodePort',
      ports: [port(80, { nodePort: 30_081 })],
      want: invalid('spec.ports[0].nodePort FieldValueForbidden'),
    },
  ])('with $what is answered $want', async ({ ports, want }) => {
    const services = paths.services(await server().namespace());
    for (const spec of [{ ports }, { ports, clusterIP: 'None' }]) {
      const reply = await server().send('POST', services, { body: service(`x${Object.keys(spec).length}`, spec) });
      expect(typeof want === 'number' ? reply.status : refusal(reply)).toEqual(want);
    }
  });
});

onEachServer('a Service', (server) => {
  const create = async (spec: object, metadata: Readonly<Record<string, unknown>> = {}) =>
    server().send('POST', paths.services(await server().namespace()), {
      body: service('x', { ports: [port(80)], ...spec }, metadata),
    });
  const affinity = (timeoutSeconds: number) => ({
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds } },
  });

  it.each([
    { spec: { sessionAffinity: 'ClientIP' }, want: affinity(10_800) },
    { spec: affinity(5), want: affinity(5) },
    { spec: { ...affinity(5), sessionAffinity: 'None' }, want: { sessionAffinity: 'None' } },
  ])('with $spec has $want', async ({ spec, want }) => {
    const { sessionAffinity, sessionAffinityConfig } = read(await create(spec))['spec'] as Record<string, unknown>;
    expect({ sessionAffinity, ...(sessionAffinityConfig !== undefined && { sessionAffinityConfig }) }).toEqual(want);
  });

  it.each([
    { spec: { ports: null }, want: invalid('spec.ports FieldValueRequired') },
    { spec: { ports: null, clusterIP: 'None' }, want: 201 },
    { spec: { selector: null, type: null, sessionAffinityConfig: null }, want: 201 },
  ])('with $spec is answered $want', async ({ spec, want }) => {
    const reply = await create(spec);
    expect(typeof want === 'number' ? reply.status : refusal(reply)).toEqual(want);
  });

  it.each([0, 86_401])('rejects session affinity of %i seconds', async (seconds) => {
    const field = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
    expect(refusal(await create(affinity(seconds)))).toEqual(invalid(`${field} FieldValueInvalid`));
  });

  it('rejects an unknown session affinity', async () => {
    expect(refusal(await create({ sessionAffinity: 'x' }))).toEqual(
      invalid('spec.sessionAffinity FieldValueNotSupported'),
    );
  });

  it.each([
    { annotations: { [hints]: 'auto', [mode]: 'auto' }, want: 201 },
    { annotations: { [mode]: 'auto' }, want: 201 },
    {
      annotations: { [hints]: 'auto', [mode]: 'Disabled' },
      want: invalid(`metadata.annotations[${mode}] FieldValueInvalid`),
    },
  ])('annotated $annotations is answered $want', async ({ annotations, want }) => {
    const reply = await create({}, { annotations });
    expect(typeof want === 'number' ? reply.status : refusal(reply)).toEqual(want);
  });

  it('becomes a NodePort by a patch and a ClusterIP by a PUT, with the same address', async () => {
    const made = read(await create({}));
    const path = `${paths.services(made.metadata.namespace!)}/x`;
    const { clusterIP } = made['spec'] as { clusterIP: string };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const patched = read(await server().send('PATCH', path, { body: { spec: { type: 'NodePort' } }, headers }));
    expect(patched['spec']).toMatchObject({ type: 'NodePort', clusterIP });
    const { resourceVersion } = patched.metadata;
    const body = service('x', { type: 'ClusterIP', clusterIP, ports: [port(80)] }, { resourceVersion });
    expect(read(await server().send('PUT', path, { body }))['spec']).toEqual(made['spec']);
  });

  it('of type NodePort has the address, the port and the policies that it names', async () => {
    const spec = {
      type: 'NodePort',
      clusterIP: '10.96.0.200',
      externalIPs: ['192.0.2.9'],
      externalTrafficPolicy: 'Local',
      internalTrafficPolicy: 'Local',
      ports: [port(80, { name: 'http', nodePort: 30_080 })],
    };
    expect(read(await create(spec))).toMatchObject({ spec });
  });

  it('keeps the fields that a patch does not name, and has what a PUT names', async () => {
    const made = read(await create({}));
    const path = `${paths.services(made.metadata.namespace!)}/x`;
    const patch = async (spec: object) => {
      const headers = { 'content-type': 'application/merge-patch+json' };
      return read(await server().send('PATCH', path, { body: { spec }, headers }))['spec'];
    };
    const more = {
      externalIPs: ['192.0.2.7'],
      internalTrafficPolicy: 'Local',
      publishNotReadyAddresses: true,
      selector: { a: 'b' },
      trafficDistribution: 'PreferClose',
    };
    expect(await patch(more)).toMatchObject(more);
    expect(await patch({ sessionAffinity: 'ClientIP' })).toMatchObject({ ...more, ...affinity(10_800) });
    expect(await patch({ ...affinity(60), selector: null })).toMatchObject(affinity(60));
    expect(await patch({ sessionAffinity: 'None', sessionAffinityConfig: null })).not.toHaveProperty('selector');
    const put = await server().send('PUT', path, { body: service('x', { ports: [port(80)] }) });
    expect(read(put)['spec']).toEqual(made['spec']);
  });

  it('has a name of at most 63 characters that begins with a letter', async () => {
    const services = paths.services(await server().namespace());
    const statuses = ['a'.repeat(63), 'a-1', '1-a', 'a'.repeat(64)].map(async (name) => {
      const { status } = await server().send('POST', services, { body: service(name, { clusterIP: 'None' }) });
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([201, 201, 422, 422]);
  });
});
