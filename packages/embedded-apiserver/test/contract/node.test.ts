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
