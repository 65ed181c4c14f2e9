import { expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { object, paths, slice } from './objects.ts';

const invalid = (...causes: string[]) => ({ status: 422, reason: 'Invalid', causes });
const address = '198.51.100.1';
const endpoint = (more: object) => ({ endpoints: [{ addresses: [address], ...more }] });
const zones = (...names: string[]) => endpoint({ hints: { forZones: names.map((name) => ({ name })) } });
const badAddress = invalid('endpoints[0].addresses[0] FieldValueInvalid');

/** A domain of 253 characters and a name of 63. */
const longest = `${['a', 'b', 'c'].map((letter) => letter.repeat(63)).join('.')}.${'d'.repeat(61)}/${'e'.repeat(63)}`;

/** Addresses that mean something else on each host. */
const special = ['127.0.0.1', '0.0.0.0', '169.254.1.1', '224.0.0.1'];
const special6 = ['::1', '::', 'fe80::1', 'ff02::1'];

onEachServer('an EndpointSlice', (server) => {
  const create = async (rest: Readonly<Record<string, unknown>>) => {
    const reply = await server().send('POST', paths.slices(await server().namespace()), { body: slice('x', rest) });
    return reply.status === 201 ? 201 : refusal(reply);
  };

  it.each([
    { what: 'an address', rest: endpoint({}), want: 201 },
    { what: 'IPv6', rest: { addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8::1'] }] }, want: 201 },
    {
      what: 'an unknown address type',
      rest: { addressType: 'x' },
      want: invalid('addressType FieldValueNotSupported'),
    },
    {
      what: 'no address',
      rest: { endpoints: [{ addresses: [] }] },
      want: invalid('endpoints[0].addresses FieldValueRequired'),
    },
    { what: 'an invalid address', rest: { endpoints: [{ addresses: ['x'] }] }, want: badAddress },
    {
      what: 'IPv6 among IPv4',
      rest: { endpoints: [{ addresses: ['2001:db8::1'] }] },
      want: invalid('endpoints[0].addresses FieldValueInvalid'),
    },
    {
      what: 'IPv4 among IPv6',
      rest: { addressType: 'IPv6', ...endpoint({}) },
      want: invalid('endpoints[0].addresses FieldValueInvalid'),
    },
    {
      what: '101 addresses in one endpoint',
      rest: { endpoints: [{ addresses: Array.from({ length: 101 }, (_, index) => `198.51.100.${index}`) }] },
      want: invalid('endpoints[0].addresses FieldValueTooMany'),
    },
    {
      what: 'a duplicate address',
      rest: { endpoints: [{ addresses: [address] }, { addresses: [address] }] },
      want: 201,
    },
    {
      what: 'names of hosts',
      rest: { addressType: 'FQDN', endpoints: [{ addresses: ['web.example.com'] }] },
      want: 201,
    },
    {
      what: 'addresses that no Pod can have',
      rest: { endpoints: [{ addresses: ['255.255.255.255'] }, { addresses: ['240.0.0.1'] }] },
      want: 201,
    },
    {
      what: 'a reference with a name of 600 kB',
      rest: endpoint({ targetRef: { kind: 'Pod', name: 'x'.repeat(600_000) } }),
      want: 201,
    },
    { what: 'a hostname', rest: endpoint({ hostname: 'web-0' }), want: 201 },
    {
      what: 'an invalid hostname',
      rest: endpoint({ hostname: 'A.b' }),
      want: invalid('endpoints[0].hostname FieldValueInvalid'),
    },
    {
      what: 'an empty hostname',
      rest: endpoint({ hostname: '' }),
      want: invalid('endpoints[0].hostname FieldValueInvalid'),
    },
    {
      what: 'an empty nodeName',
      rest: endpoint({ nodeName: '' }),
      want: invalid('endpoints[0].nodeName FieldValueInvalid'),
    },
    { what: 'an empty zone', rest: endpoint({ zone: '' }), want: 201 },
    {
      what: 'a reference to another namespace',
      rest: endpoint({ targetRef: { kind: 'Pod', namespace: 'elsewhere', name: 'a' } }),
      want: 201,
    },
    { what: 'hints for eight zones', rest: zones('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), want: 201 },
    {
      what: 'a duplicate zone',
      rest: zones('a', 'a'),
      want: invalid('endpoints[0].hints.forZones[1].name FieldValueDuplicate'),
    },
    {
      what: 'an invalid zone',
      rest: zones('a b'),
      want: invalid('endpoints[0].hints.forZones[0].name FieldValueInvalid'),
    },
    {
      what: 'two ports with one number',
      rest: {
        ports: [
          { name: 'a', port: 80 },
          { name: 'b', port: 80 },
        ],
      },
      want: 201,
    },
    {
      what: 'an invalid port number',
      rest: { ports: [{ port: -5 }, { name: 'b', port: 70_000 }] },
      want: 201,
    },
    {
      what: 'two ports with one name',
      rest: { ports: [{ port: 80 }, { port: 81 }] },
      want: invalid('ports[1].name FieldValueDuplicate'),
    },
    {
      what: 'an invalid port name',
      rest: { ports: [{ name: 'A_b' }] },
      want: invalid('ports[0].name FieldValueInvalid'),
    },
    {
      what: 'another protocol',
      rest: { ports: [{ protocol: 'tcp' }] },
      want: invalid('ports[0].protocol FieldValueNotSupported'),
    },
    {
      what: 'the longest appProtocol',
      rest: { ports: [{ appProtocol: longest }] },
      want: 201,
    },
    {
      what: 'an appProtocol that is too long',
      rest: { ports: [{ appProtocol: `${longest}e` }] },
      want: invalid('ports[0].appProtocol FieldValueInvalid'),
    },
    {
      what: 'an empty appProtocol',
      rest: { ports: [{ appProtocol: '' }] },
      want: invalid('ports[0].appProtocol FieldValueInvalid'),
    },
    ...special.map((ip) => ({ what: ip, rest: { endpoints: [{ addresses: [ip] }] }, want: badAddress })),
    ...special6.map((ip) => ({
      what: ip,
      rest: { addressType: 'IPv6', endpoints: [{ addresses: [ip] }] },
      want: badAddress,
    })),
    { what: 'a multicast address', rest: { endpoints: [{ addresses: ['224.0.1.1'] }] }, want: 201 },
  ])('with $what is answered $want', async ({ rest, want }) => {
    expect(await create(rest)).toEqual(want);
  });

  it('has a DNS subdomain as its name', async () => {
    const slices = paths.slices(await server().namespace());
    const statuses = ['1.a', 'a'.repeat(253), 'a'.repeat(254)].map(async (name) => {
      const { status } = await server().send('POST', slices, { body: slice(name, {}) });
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([201, 201, 422]);
  });

  it('without endpoints or ports has null for them', async () => {
    const slices = paths.slices(await server().namespace());
    const nothing = { endpoints: null, ports: null };
    const { admin } = server().cluster;
    expect(await admin.create(slices, slice('absent', { endpoints: undefined }))).toMatchObject(nothing);
    expect(await admin.create(slices, slice('empty', { ports: [] }))).toMatchObject(nothing);
    const full = {
      endpoints: [{ addresses: [address], conditions: {} }],
      ports: [{ name: '', port: 1, protocol: 'TCP' }],
    };
    const put = (rest: object) => server().send('PUT', `${slices}/empty`, { body: slice('empty', { ...rest }) });
    expect(read(await put(full))).toMatchObject(full);
    expect(read(await put({ endpoints: [] }))).toMatchObject(nothing);
  });

  it('distinguishes a false condition from an unset one', async () => {
    const conditions = [{}, { ready: false }, { ready: true, serving: true, terminating: false }];
    const slices = paths.slices(await server().namespace());
    const endpoints = conditions.map((each, index) => ({ addresses: [`198.51.100.${index}`], conditions: each }));
    const made = await server().cluster.admin.create(slices, slice('x', { endpoints }));
    expect(made['endpoints']).toEqual(endpoints);
  });
});

onEachServer('Endpoints', (server) => {
  const create = async (...subsets: object[]) => {
    const path = `/api/v1/namespaces/${await server().namespace()}/endpoints`;
    return server().send('POST', path, { body: object('v1 Endpoints', 'x', { subsets }) });
  };

  it('get a default protocol, and separate ready addresses from others', async () => {
    const ports = [{ name: 'http', port: 80 }];
    const subset = { addresses: [{ ip: address, hostname: 'web-0' }], notReadyAddresses: [{ ip: '198.51.100.2' }] };
    const made = read(await create({ ...subset, ports }));
    expect(made['subsets']).toEqual([{ ...subset, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] }]);
  });

  it.each([
    { what: 'no addresses', subset: { ports: [{ port: 80 }] }, want: invalid('subsets[0] FieldValueRequired') },
    {
      what: 'a loopback address',
      subset: { addresses: [{ ip: '127.0.0.1' }] },
      want: invalid('subsets[0].addresses[0].ip FieldValueInvalid'),
    },
    {
      what: 'two ports, one without a name',
      subset: { addresses: [{ ip: address }], ports: [{ port: 80 }, { name: 'b', port: 81 }] },
      want: invalid('subsets[0].ports[0].name FieldValueRequired'),
    },
    {
      what: 'an invalid port number',
      subset: { addresses: [{ ip: address }], ports: [{ port: -5 }] },
      want: invalid('subsets[0].ports[0].port FieldValueInvalid'),
    },
  ])('with $what are refused', async ({ subset, want }) => {
    expect(refusal(await create(subset))).toEqual(want);
  });
});
