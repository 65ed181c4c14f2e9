import { expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { object } from './objects.ts';

const nodes = '/api/v1/nodes';
const mergePatch = { 'content-type': 'application/merge-patch+json' };
const invalid = (...causes: string[]) => ({ status: 422, reason: 'Invalid', causes });

let made = 0;
const node = (spec: object) => object('v1 Node', `node-${++made}`, { spec });

onEachServer('the range of a Node', (server) => {
  const create = (spec: object) => server().send('POST', nodes, { body: node(spec) });
  const v4 = '10.4.0.0/24';
  const v6 = 'fd00:4::/64';

  it.each([
    { name: 'may be absent', spec: {}, want: {} },
    { name: 'sets podCIDRs from podCIDR', spec: { podCIDR: v4 }, want: { podCIDR: v4, podCIDRs: [v4] } },
    { name: 'sets podCIDR from podCIDRs', spec: { podCIDRs: [v4] }, want: { podCIDR: v4, podCIDRs: [v4] } },
    {
      name: 'may have one CIDR of each family',
      spec: { podCIDRs: [v6, v4] },
      want: { podCIDR: v6, podCIDRs: [v6, v4] },
    },
  ])('$name', async ({ spec, want }) => {
    const { podCIDR, podCIDRs } = read(await create(spec))['spec'] as { podCIDR?: string; podCIDRs?: string[] };
    expect({ podCIDR, podCIDRs }).toEqual(want);
  });

  it.each([
    { what: 'an invalid CIDR', podCIDRs: ['x'], want: invalid('spec.podCIDRs[0] FieldValueInvalid') },
    { what: 'two of one family', podCIDRs: [v4, '10.4.1.0/24'], want: invalid('spec.podCIDRs FieldValueInvalid') },
  ])('is not $what', async ({ podCIDRs, want }) => {
    expect(refusal(await create({ podCIDRs }))).toEqual(want);
  });

  it('stays while its addresses change in its status', async () => {
    const { metadata } = read(await create({ podCIDR: v4 }));
    const path = `${nodes}/${metadata.name}/status`;
    const patch = async (...addresses: string[]) => {
      const body = { status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) } };
      return read(await server().send('PATCH', path, { body, headers: mergePatch }));
    };
    const addressesOf = (object: { [field: string]: unknown }) =>
      (object['status'] as { addresses: { address: string }[] }).addresses.map(({ address }) => address);
    expect(addressesOf(await patch('192.0.2.1', '2001:db8::1'))).toEqual(['192.0.2.1', '2001:db8::1']);
    const after = await patch('192.0.2.9');
    expect(addressesOf(after)).toEqual(['192.0.2.9']);
    expect(after).toMatchObject({ metadata: { uid: metadata.uid }, spec: { podCIDR: v4, podCIDRs: [v4] } });
    // An annotation is no reason to change the status.
    const body = { metadata: { annotations: { a: 'b' } }, status: { addresses: [] } };
    const annotated = await server().send('PATCH', `${nodes}/${metadata.name}`, { body, headers: mergePatch });
    expect(addressesOf(read(annotated))).toEqual(['192.0.2.9']);
  });

  it('is gone with the Node, and another Node of its name is a new one', async () => {
    const first = read(await create({ podCIDR: v4 }));
    const { name, uid } = first.metadata;
    expect(read(await server().send('DELETE', `${nodes}/${name}`))).toMatchObject({
      kind: 'Status',
      status: 'Success',
    });
    const again = read(await server().send('POST', nodes, { body: object('v1 Node', name) }));
    expect(again.metadata.uid).not.toBe(uid);
    expect(again['spec']).not.toHaveProperty('podCIDR');
  });

  it('may come late, and stays, while annotations change', async () => {
    const { metadata } = read(await create({}));
    const patch = (body: unknown) => server().send('PATCH', `${nodes}/${metadata.name}`, { body, headers: mergePatch });
    expect((await patch({ spec: { podCIDR: v4, podCIDRs: [v4] } })).status).toBe(200);
    expect(refusal(await patch({ spec: { podCIDR: '10.4.1.0/24', podCIDRs: ['10.4.1.0/24'] } }))).toEqual(
      invalid('spec.podCIDRs FieldValueForbidden'),
    );
    const annotated = read(await patch({ metadata: { annotations: { 'c2.wireguard.semaphore.uw.io/pubKey': 'x' } } }));
    expect(annotated.metadata.annotations).toMatchObject({ 'c2.wireguard.semaphore.uw.io/pubKey': 'x' });
    // A key is validated in lower case, but stored as written.
    const capitals = read(
      await patch({ metadata: { annotations: { 'C2.Eu.wireguard.semaphore.uw.io/pubKey': 'y' } } }),
    );
    expect(capitals.metadata.annotations).toMatchObject({
      'c2.wireguard.semaphore.uw.io/pubKey': 'x',
      'C2.Eu.wireguard.semaphore.uw.io/pubKey': 'y',
    });
  });
});
