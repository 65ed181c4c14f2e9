import { expect, it } from 'vitest';
import { onEachServer, read, refusal, type Server } from './harness.ts';
import { paths, service } from './objects.ts';

const ports = [{ port: 80 }];
const invalid = (...causes: string[]) => ({ status: 422, reason: 'Invalid', causes });
const badPolicy = invalid('spec.ipFamilyPolicy FieldValueInvalid');

/** What a server says of the addresses of a Service; each address is only its family. */
async function answer(server: Server, method: 'POST' | 'PUT', path: string, spec: object): Promise<unknown> {
  const reply = await server.send(method, path, { body: service('x', { ports, ...spec }) });
  if (reply.status >= 300) return refusal(reply);
  const { clusterIP, clusterIPs, ipFamilies, ipFamilyPolicy } = read(reply)['spec'] as Addresses;
  return { ips: clusterIPs?.map(familyOf), first: clusterIPs?.[0] === clusterIP, ipFamilies, ipFamilyPolicy };
}

type Addresses = { clusterIP?: string; clusterIPs?: string[]; ipFamilies?: string[]; ipFamilyPolicy?: string };

const familyOf = (ip: string) => (ip === 'None' ? ip : ip.includes(':') ? 'IPv6' : 'IPv4');

const single = (family: string) => ({
  ips: [family],
  first: true,
  ipFamilies: [family],
  ipFamilyPolicy: 'SingleStack',
});
const dual = (ipFamilies: string[], ipFamilyPolicy: string) => ({
  ips: ipFamilies,
  first: true,
  ipFamilies,
  ipFamilyPolicy,
});
const headless = (ipFamilies: string[], ipFamilyPolicy: string) => ({
  ips: ['None'],
  first: true,
  ipFamilies,
  ipFamilyPolicy,
});

const both = ['IPv4', 'IPv6'];
const selector = { app: 'web' };

onEachServer('a new Service, where there are two families', (server) => {
  it.each([
    { name: 'has one by default', spec: {}, want: single('IPv4') },
    { name: 'may choose the other', spec: { ipFamilies: ['IPv6'] }, want: single('IPv6') },
    {
      name: 'may prefer both',
      spec: { ipFamilyPolicy: 'PreferDualStack' },
      want: dual(both, 'PreferDualStack'),
    },
    { name: 'may require both', spec: { ipFamilyPolicy: 'RequireDualStack' }, want: dual(both, 'RequireDualStack') },
    {
      name: 'may choose their order',
      spec: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6'] },
      want: dual(['IPv6', 'IPv4'], 'PreferDualStack'),
    },
    { name: 'needs a policy for two', spec: { ipFamilies: both }, want: badPolicy },
    {
      name: 'has at most two',
      spec: { ipFamilies: ['IPv5'] },
      want: invalid('spec.ipFamilies[0] FieldValueNotSupported'),
    },
    {
      name: 'has no duplicate',
      spec: { ipFamilies: ['IPv4', 'IPv4'] },
      want: invalid('spec.ipFamilies[1] FieldValueDuplicate'),
    },
    {
      name: 'has no unknown policy',
      spec: { ipFamilyPolicy: 'x' },
      want: invalid('spec.ipFamilyPolicy FieldValueNotSupported'),
    },
    {
      name: 'has the same first address in both fields',
      spec: { clusterIPs: ['10.96.9.9'] },
      want: invalid('spec.clusterIPs FieldValueInvalid'),
    },
    { name: 'may choose an address', spec: { clusterIP: 'fd00:10:96::909' }, want: single('IPv6') },
    {
      name: 'takes a chosen address of its family only',
      spec: { clusterIP: 'fd00:10:96::908', ipFamilies: ['IPv4'] },
      want: invalid('spec.clusterIPs[0] FieldValueInvalid'),
    },
    {
      name: 'is headless, with a selector',
      spec: { clusterIP: 'None', selector },
      want: headless(['IPv4'], 'SingleStack'),
    },
    { name: 'is headless, without a selector', spec: { clusterIP: 'None' }, want: headless(both, 'RequireDualStack') },
    {
      name: 'is headless, without a selector, of one family',
      spec: { clusterIP: 'None', ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
      want: headless(['IPv6'], 'SingleStack'),
    },
    {
      name: 'is headless, without a selector or policy',
      spec: { clusterIP: 'None', ipFamilies: ['IPv6'] },
      want: headless(['IPv6', 'IPv4'], 'RequireDualStack'),
    },
    {
      name: 'has no families as an ExternalName',
      spec: { type: 'ExternalName', externalName: 'example.com', ipFamilies: ['IPv4'] },
      want: invalid('spec.ipFamilies FieldValueForbidden'),
    },
  ])('$name', async ({ spec, want }) => {
    expect(await answer(server(), 'POST', paths.services(await server().namespace()), spec)).toEqual(want);
  });
});

onEachServer('a Service that changes', (server) => {
  it.each([
    { name: 'keeps both', from: { ipFamilyPolicy: 'PreferDualStack' }, to: {}, want: dual(both, 'PreferDualStack') },
    {
      name: 'gains the second',
      from: {},
      to: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: both },
      want: dual(both, 'PreferDualStack'),
    },
    {
      name: 'gains the missing family',
      from: { ipFamilies: ['IPv6'] },
      to: { ipFamilyPolicy: 'RequireDualStack' },
      want: dual(['IPv6', 'IPv4'], 'RequireDualStack'),
    },
    {
      name: 'drops the second',
      from: { ipFamilyPolicy: 'PreferDualStack' },
      to: { ipFamilyPolicy: 'SingleStack' },
      want: single('IPv4'),
    },
    {
      name: 'drops the second by naming the first',
      from: { ipFamilyPolicy: 'PreferDualStack' },
      to: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] },
      want: single('IPv4'),
    },
    {
      name: 'keeps both without a policy',
      from: { ipFamilyPolicy: 'PreferDualStack' },
      to: { ipFamilies: ['IPv4'] },
      want: badPolicy,
    },
    {
      name: 'keeps the first',
      from: {},
      to: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
      want: invalid('spec.clusterIPs[0] FieldValueInvalid'),
    },
    {
      name: 'keeps the first of two',
      from: { ipFamilyPolicy: 'PreferDualStack' },
      to: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
      want: invalid('spec.clusterIPs[0] FieldValueInvalid'),
    },
    {
      name: 'keeps their order',
      from: { ipFamilyPolicy: 'PreferDualStack' },
      to: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6', 'IPv4'] },
      want: invalid('spec.clusterIPs[0] FieldValueInvalid', 'spec.clusterIPs[1] FieldValueInvalid'),
    },
    {
      name: 'does not become headless',
      from: {},
      to: { clusterIP: 'None' },
      want: invalid('spec.clusterIPs[0] FieldValueInvalid'),
    },
    { name: 'stays headless', from: { clusterIP: 'None' }, to: {}, want: headless(both, 'RequireDualStack') },
    {
      name: 'changes its families while it is headless',
      from: { clusterIP: 'None' },
      to: { clusterIP: 'None', ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
      want: headless(['IPv6'], 'SingleStack'),
    },
    {
      name: 'gets no address after it was headless',
      from: { clusterIP: 'None' },
      to: { clusterIP: '10.96.9.7', ipFamilyPolicy: 'SingleStack' },
      want: invalid('spec.clusterIPs[0] FieldValueInvalid'),
    },
    {
      name: 'becomes an ExternalName',
      from: {},
      to: { type: 'ExternalName', externalName: 'example.com' },
      want: { first: true },
    },
    {
      name: 'stops being an ExternalName',
      from: { type: 'ExternalName', externalName: 'example.com' },
      to: {},
      want: single('IPv4'),
    },
  ])('$name', async ({ from, to, want }) => {
    const services = paths.services(await server().namespace());
    await server().cluster.admin.create(services, service('x', { ports, ...from }));
    expect(await answer(server(), 'PUT', `${services}/x`, to)).toEqual(want);
  });

  it('loses its address with a patch of its type only', async () => {
    const services = paths.services(await server().namespace());
    await server().cluster.admin.create(services, service('x', { ports }));
    const body = { spec: { type: 'ExternalName', externalName: 'example.com' } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const { spec } = read(await server().send('PATCH', `${services}/x`, { body, headers })) as unknown as {
      spec: object;
    };
    expect(Object.keys(spec).toSorted()).toEqual(['externalName', 'ports', 'sessionAffinity', 'type']);
  });
});

onEachServer(
  'a Service, where there is one family',
  (server) => {
    it.each([
      { name: 'has its one family', spec: {}, want: single('IPv4') },
      {
        name: 'cannot have the other',
        spec: { ipFamilies: ['IPv6'] },
        want: invalid('spec.ipFamilies[0] FieldValueInvalid'),
      },
      {
        name: 'may prefer two',
        spec: { ipFamilyPolicy: 'PreferDualStack' },
        want: { ...single('IPv4'), ipFamilyPolicy: 'PreferDualStack' },
      },
      {
        name: 'cannot name two',
        spec: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: both },
        want: invalid('spec.ipFamilies[1] FieldValueInvalid'),
      },
      { name: 'cannot require two', spec: { ipFamilyPolicy: 'RequireDualStack' }, want: badPolicy },
      {
        name: 'has two if it is headless without a selector',
        spec: { clusterIP: 'None' },
        want: headless(both, 'RequireDualStack'),
      },
      {
        name: 'has the other if it is headless without a selector',
        spec: { clusterIP: 'None', ipFamilies: ['IPv6'], ipFamilyPolicy: 'SingleStack' },
        want: headless(['IPv6'], 'SingleStack'),
      },
      {
        name: 'cannot have the other if it is headless with a selector',
        spec: { clusterIP: 'None', selector, ipFamilies: ['IPv6'] },
        want: invalid('spec.ipFamilies[0] FieldValueInvalid'),
      },
    ])('$name', async ({ spec, want }) => {
      expect(await answer(server(), 'POST', paths.services(await server().namespace()), spec)).toEqual(want);
    });

    it('is in a range that the server publishes', async () => {
      const list = read(await server().send('GET', '/apis/networking.k8s.io/v1/servicecidrs'));
      expect(list).toMatchObject({ items: [{ metadata: { name: 'kubernetes' }, spec: { cidrs: ['10.96.0.0/16'] } }] });
    });
  },
  { apiserverFlags: { 'service-cluster-ip-range': '10.96.0.0/16' }, ipFamilies: ['IPv4'] },
);
