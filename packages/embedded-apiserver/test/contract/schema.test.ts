import { beforeAll, expect, it } from 'vitest';
import { onEachServer, read, refusal } from './harness.ts';
import { object } from './objects.ts';

const text = { type: 'string' };
const mergePatch = { 'content-type': 'application/merge-patch+json' };

/** A kind with what the schemas of our kinds have, in its spec and in its status. */
const widgets = object('apiextensions.k8s.io/v1 CustomResourceDefinition', 'widgets.example.org', {
  spec: {
    group: 'example.org',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['type', 'ports'],
                properties: {
                  type: { ...text, enum: ['Plain', 'Fancy'] },
                  labels: { type: 'object', additionalProperties: text },
                  ips: { type: 'array', maxItems: 2, items: text },
                  ports: {
                    type: 'array',
                    'x-kubernetes-list-type': 'atomic',
                    items: {
                      type: 'object',
                      required: ['port'],
                      properties: { port: { type: 'integer' }, name: text },
                    },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type', 'reason'],
                      properties: {
                        type: text,
                        reason: { ...text, minLength: 1, maxLength: 20, pattern: '^[A-Z][A-Za-z,]*$' },
                        message: { ...text, minLength: 2, maxLength: 30 },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
});

const widget = (name: string, spec: unknown) => object('example.org/v1 Widget', name, { spec });
const plain = { type: 'Plain', ports: [] };
const invalid = (...causes: string[]) => ({ status: 422, reason: 'Invalid', causes });

onEachServer('an object with a schema', (server) => {
  beforeAll(() => server().cluster.defineResource(widgets));
  const pathOf = (namespace: string) => `/apis/example.org/v1/namespaces/${namespace}/widgets`;

  it.each([
    { what: 'what is required', spec: plain, want: 201 },
    { what: 'a map of texts', spec: { ...plain, labels: { a: 'b' } }, want: 201 },
    { what: 'a port', spec: { ...plain, ports: [{ port: 80 }, { port: 80 }] }, want: 201 },
    { what: 'no list that is required', spec: { type: 'Plain' }, want: invalid('spec.ports FieldValueRequired') },
    { what: 'no text that is required', spec: { ports: [] }, want: invalid('spec.type FieldValueRequired') },
    { what: 'another value', spec: { ...plain, type: 'x' }, want: invalid('spec.type FieldValueNotSupported') },
    {
      what: 'a number in a map of texts',
      spec: { ...plain, labels: { a: 1 } },
      want: invalid('spec.labels.a FieldValueTypeInvalid'),
    },
    { what: 'too many items', spec: { ...plain, ips: ['a', 'b', 'c'] }, want: invalid('spec.ips FieldValueTooMany') },
    {
      what: 'an item without what it requires',
      spec: { ...plain, ports: [{ name: 'a' }] },
      want: invalid('spec.ports[0].port FieldValueRequired'),
    },
    {
      what: 'a text for a number',
      spec: { ...plain, ports: [{ port: '80' }] },
      want: invalid('spec.ports[0].port FieldValueTypeInvalid'),
    },
    { what: 'a text for an object', spec: 'x', want: invalid('spec FieldValueTypeInvalid') },
  ])('and $what is answered $want', async ({ spec, want }) => {
    const reply = await server().send('POST', pathOf(await server().namespace()), { body: widget('x', spec) });
    expect(typeof want === 'number' ? reply.status : refusal(reply)).toEqual(want);
  });

  const setStatus = async (status: object) => {
    const path = pathOf(await server().namespace());
    await server().cluster.admin.create(path, widget('x', plain));
    return server().send('PATCH', `${path}/x/status`, { body: { status }, headers: mergePatch });
  };
  const condition = { type: 'Ready', reason: 'Ready,Steady', message: 'ok' };
  const at = 'status.conditions';
  it.each([
    { what: 'no reason', conditions: [{ type: 'Ready' }], want: invalid(`${at}[0].reason FieldValueRequired`) },
    {
      what: 'an empty reason',
      conditions: [{ ...condition, reason: '' }],
      want: invalid(`${at}[0].reason FieldValueInvalid`),
    },
    {
      what: 'a space in its reason',
      conditions: [{ ...condition, reason: 'A, B' }],
      want: invalid(`${at}[0].reason FieldValueInvalid`),
    },
    {
      what: 'a short message',
      conditions: [{ ...condition, message: 'x' }],
      want: invalid(`${at}[0].message FieldValueInvalid`),
    },
    {
      what: 'a long message',
      conditions: [{ ...condition, message: 'x'.repeat(31) }],
      want: invalid(`${at}[0].message FieldValueTooLong`),
    },
    { what: 'one type twice', conditions: [condition, condition], want: invalid(`${at}[1] FieldValueDuplicate`) },
  ])('does not get a status with $what', async ({ conditions, want }) => {
    expect(refusal(await setStatus({ conditions }))).toEqual(want);
  });

  it('gets a status with a condition of each type, without unknown fields', async () => {
    const conditions = [condition, { ...condition, type: 'Valid' }];
    expect(read(await setStatus({ conditions, unknown: 1 }))['status']).toEqual({ conditions });
  });
});
