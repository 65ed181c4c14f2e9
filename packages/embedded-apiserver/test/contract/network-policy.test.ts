import { expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { object } from './objects.ts';

const mergePatch = { 'content-type': 'application/merge-patch+json' };
const invalid = (...causes: string[]) => ({ status: 422, reason: 'Invalid', causes });
const pathOf = (namespace: string) => `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`;
const policy = (name: string, spec: object) => object('networking.k8s.io/v1 NetworkPolicy', name, { spec });

const cidr = (text: string) => ({ ipBlock: { cidr: text } });
const from = [cidr('192.0.2.1/32')];
const ports = (...all: object[]) => ({ ingress: [{ from, ports: all }] });
const peers = (...all: object[]) => ({ ingress: [{ from: all }] });

onEachServer('a NetworkPolicy', (server) => {
  const create = async (spec: object) =>
    server().send('POST', pathOf(await server().namespace()), { body: policy('x', { podSelector: {}, ...spec }) });

  it.each([
    { name: 'is of ingress by default', spec: {}, want: { policyTypes: ['Ingress'] } },
    {
      name: 'is also of egress if it has rules for that',
      spec: { egress: [{}] },
      want: { egress: [{}], policyTypes: ['Ingress', 'Egress'] },
    },
    {
      name: 'keeps the types that it names',
      spec: { policyTypes: ['Egress'], egress: [{ to: from }] },
      want: { policyTypes: ['Egress'], egress: [{ to: from }] },
    },
    {
      name: 'has ports of TCP unless they name another protocol',
      spec: ports({ port: 5432 }, { port: 'http' }, { port: 53, protocol: 'UDP' }, { protocol: 'SCTP' }),
      want: {
        ...ports(
          { port: 5432, protocol: 'TCP' },
          { port: 'http', protocol: 'TCP' },
          { port: 53, protocol: 'UDP' },
          { protocol: 'SCTP' },
        ),
        policyTypes: ['Ingress'],
      },
    },
  ])('$name', async ({ spec, want }) => {
    expect(read(await create(spec))['spec']).toEqual({ podSelector: {}, ...want });
  });

  it.each([
    { what: 'a range of ports', spec: ports({ port: 1, endPort: 65_535 }), want: 201 },
    { what: 'addresses of both families', spec: peers(cidr('192.0.2.1/32'), cidr('2001:db8::1/128')), want: 201 },
    {
      what: 'the port 0',
      spec: ports({ port: 0 }),
      want: invalid('spec.ingress[0].ports[0].port FieldValueInvalid'),
    },
    {
      what: 'a port that is too large',
      spec: ports({ port: 65_536 }),
      want: invalid('spec.ingress[0].ports[0].port FieldValueInvalid'),
    },
    {
      what: 'a range that ends before it begins',
      spec: ports({ port: 80, endPort: 79 }),
      want: invalid('spec.ingress[0].ports[0].endPort FieldValueInvalid'),
    },
    {
      what: 'an unknown protocol',
      spec: ports({ port: 80, protocol: 'tcp' }),
      want: invalid('spec.ingress[0].ports[0].protocol FieldValueNotSupported'),
    },
    {
      what: 'an address instead of a CIDR',
      spec: peers(cidr('192.0.2.1')),
      want: invalid('spec.ingress[0].from[0].ipBlock.cidr FieldValueInvalid'),
    },
    {
      what: 'an empty CIDR',
      spec: { policyTypes: ['Egress'], egress: [{ to: [cidr('')] }] },
      want: invalid('spec.egress[0].to[0].ipBlock.cidr FieldValueRequired'),
    },
    { what: 'an empty peer', spec: peers({}), want: invalid('spec.ingress[0].from[0] FieldValueRequired') },
    {
      what: 'an unknown type',
      spec: { policyTypes: ['Both'] },
      want: invalid('spec.policyTypes[0] FieldValueNotSupported'),
    },
  ])('with $what is answered $want', async ({ spec, want }) => {
    const reply = await create(spec);
    expect(typeof want === 'number' ? reply.status : refusal(reply)).toEqual(want);
  });

  it('counts the changes of its spec, of any kind of write, and no others', async () => {
    const path = pathOf(await server().namespace());
    const generation = ({ metadata }: { metadata: Record<string, unknown> }) => metadata['generation'];
    const patch = async (body: object) =>
      generation(read(await server().send('PATCH', `${path}/x`, { body, headers: mergePatch })));
    const made = await server().cluster.admin.create(path, policy('x', { podSelector: {}, ...ports({ port: 1 }) }));
    expect([
      generation(made),
      await patch({ metadata: { annotations: { note: 'x' }, labels: { a: 'b' } } }),
      await patch({ spec: ports({ port: 2 }) }),
      // The protocol is the default.
      await patch({ spec: ports({ port: 2, protocol: 'TCP' }) }),
      await patch({ spec: { policyTypes: ['Egress'], ingress: null, egress: [{ to: from }] } }),
    ]).toEqual([1, 1, 2, 2, 3]);
    const put = await server().send('PUT', `${path}/x`, { body: policy('x', { podSelector: {}, ingress: [] }) });
    expect(generation(read(put))).toBe(4);
  });

  it('has a DNS subdomain as its name', async () => {
    const path = pathOf(await server().namespace());
    const statuses = ['db-c2-ingress.x', '1', 'a'.repeat(253), 'a'.repeat(254), 'A_b'].map(async (name) => {
      const { status } = await server().send('POST', path, { body: policy(name, { podSelector: {} }) });
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([201, 201, 201, 422, 422]);
  });
});
