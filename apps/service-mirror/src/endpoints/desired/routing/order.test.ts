import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { minReadyText, orderText, parseClusterOrder, parseMinReady, propertyProblem } from './order.ts';

const local = { kind: 'local' };
const others = { kind: 'others' };

describe('parseClusterOrder', () => {
  it.each([
    { text: '*', want: [[others]] },
    { text: 'local; *', want: [[local], [others]] },
    {
      text: 'local,c2;c-3',
      want: [[local, { kind: 'cluster', cluster: 'c2' }], [{ kind: 'cluster', cluster: 'c-3' }]],
    },
    {
      text: ' region=same ;zone=eu-1 ',
      want: [[{ kind: 'same', property: 'region' }], [{ kind: 'property', property: 'zone', value: 'eu-1' }]],
    },
    { text: 'example.com/tier=gold', want: [[{ kind: 'property', property: 'example.com/tier', value: 'gold' }]] },
  ])('reads $text', ({ text, want }) => {
    const order = parseClusterOrder(text);
    expect(order.ok && order.value.map(({ terms }) => terms)).toEqual(want);
  });

  it.each([
    { text: '', wrong: '""' },
    { text: 'local;', wrong: '""' },
    { text: 'local,,c2', wrong: '""' },
    { text: 'lo cal; *', wrong: '"lo cal"' },
    { text: 'local; =eu', wrong: '"=eu"' },
    { text: 'local; region=', wrong: '"region="' },
    { text: 'local; region=eu west', wrong: '"region=eu west"' },
    { text: 'local; a b=same', wrong: '"a b=same"' },
    { text: 'local; \u001b[2J', wrong: String.raw`"\u001b[2J"` },
  ])('refuses $text, and quotes what is wrong', ({ text, wrong }) => {
    const order = parseClusterOrder(text);
    expect(order).toEqual({ ok: false, reason: expect.stringContaining(`${wrong} is not`) });
    expect(order).toMatchObject({
      reason: expect.stringContaining('is not local, *, the name of a cluster, or property=value'),
    });
  });

  it.each([
    { name: 'a long text', text: 'c'.repeat(1_000_000), want: 'has 1000000 characters, at most 1024 are allowed' },
    { name: 'many levels', text: 'c;'.repeat(100), want: 'has 101 levels, at most 16 are allowed' },
    { name: 'many clusters', text: 'c,'.repeat(100), want: 'names clusters 101 times, at most 64 are allowed' },
  ])('refuses $name, and cuts it', ({ text, want }) => {
    const order = parseClusterOrder(text);
    expect(order).toEqual({ ok: false, reason: expect.stringContaining(want) });
    expect(!order.ok && order.reason.length).toBeLessThan(200);
  });

  it('reads its own text as the same order, and any other text in a short reason', () => {
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom('local', '*', 'c2', 'a=b', 'a=same', ';', ',', ' ', '=')).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (any) => {
        const order = parseClusterOrder(any);
        expect(order.ok ? parseClusterOrder(orderText(order.value)) : order).toEqual(order);
        expect((order.ok ? '' : order.reason).length).toBeLessThan(1_000);
      }),
    );
  });
});

describe('parseMinReady', () => {
  it.each(['1', '2', '999999', '1%', '50%', '100%'])('reads %s', (text) => {
    const min = parseMinReady(text);
    expect(min.ok && minReadyText(min.value)).toBe(text);
  });

  it.each(['', '0', '0%', '01', '101%', '-1', '1.5', '2 ', '1000000', 'two', '%', '\u0660', '9'.repeat(1_000_000)])(
    'refuses "%s"',
    (text) => {
      const min = parseMinReady(text);
      expect(min).toEqual({ ok: false, reason: expect.stringContaining('is not a number of endpoints') });
      expect(!min.ok && min.reason.length).toBeLessThan(200);
    },
  );
});

it.each([
  { property: 'region', value: 'eu', want: undefined },
  { property: 'a b', value: 'eu', want: 'has a name that is not valid' },
  { property: 'region', value: '', want: 'has a value that is not valid' },
  { property: 'region', value: 'same', want: 'has the value same, which means that of the local cluster' },
])('a property $property with the value "$value" $want', ({ property, value, want }) => {
  expect(propertyProblem(property, value)?.slice(0, want?.length)).toBe(want);
});
