import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { gatedSlices } from './gating.ts';
import { hasReady } from './objects.ts';
import type { Endpoint, SourceSlice } from './source.ts';

const [READY, NOT_READY] = [
  { ready: true, serving: true, terminating: false },
  { ready: false, serving: false, terminating: false },
];
const endpoint = (address: string, conditions: Endpoint['conditions'] = READY): Endpoint => ({
  address,
  otherAddresses: undefined,
  conditions,
  hostname: undefined,
  nodeName: undefined,
  zone: undefined,
  zones: undefined,
});
const slice = (endpoints: readonly Endpoint[], nodes: readonly string[] | undefined): SourceSlice => ({
  uid: 'u',
  namespace: 'shop',
  name: 'web-a',
  service: 'web',
  family: 'IPv4',
  ports: [],
  endpoints,
  nodes,
});
const silent = new Set(['m1']);
const written = (slices: readonly SourceSlice[]) =>
  slices.flatMap(({ endpoints }) =>
    endpoints.map(({ address, conditions: { ready, serving, terminating } }) =>
      [address, ...[ready, serving, terminating].map(Number)].join(' '),
    ),
  );

describe('an endpoint on a silent node', () => {
  it('is used last, and others stay', () => {
    const given = [slice([endpoint('10.4.0.1'), endpoint('10.4.0.2'), endpoint('10.4.0.3')], ['m1', 'm2', ''])];
    expect(written(gatedSlices(given, silent, false))).toEqual(['10.4.0.1 0 1 1', '10.4.0.2 1 1 0', '10.4.0.3 1 1 0']);
  });

  it('that is not ready stays so', () => {
    const given = [slice([endpoint('10.4.0.1', NOT_READY)], ['m1'])];
    expect(written(gatedSlices(given, silent, false))).toEqual(['10.4.0.1 0 0 0']);
  });

  it.each([
    { keepsLast: true, want: ['10.4.0.1 1 1 0', '10.4.0.2 0 0 0'] },
    { keepsLast: false, want: ['10.4.0.1 0 1 1', '10.4.0.2 0 0 0'] },
  ])('that is the last ready one stays ready: $keepsLast', ({ keepsLast, want }) => {
    const given = [slice([endpoint('10.4.0.1'), endpoint('10.4.0.2', NOT_READY)], ['m1', 'm2'])];
    expect(written(gatedSlices(given, silent, keepsLast))).toEqual(want);
  });
});

describe('a slice', () => {
  it.each([['m2'], undefined])('without such an endpoint is the same one: nodes %s', (...nodes) => {
    const [first] = nodes;
    const given = slice([endpoint('10.4.0.1')], first === undefined ? undefined : ['m2']);
    expect(gatedSlices([given], silent, false)[0]).toBe(given);
  });

  it('of a Service that others can not take over never loses its last ready endpoint, and none loses an address', () => {
    const one = fc.record({ node: fc.constantFrom('m1', 'm2', ''), isReady: fc.boolean() });
    fc.assert(
      fc.property(fc.array(fc.array(one, { maxLength: 4 }), { maxLength: 3 }), fc.boolean(), (all, keepsLast) => {
        const given = all.map((endpoints, i) =>
          slice(
            endpoints.map(({ isReady }, j) => endpoint(`10.4.${i}.${j}`, isReady ? READY : NOT_READY)),
            endpoints.map(({ node }) => node),
          ),
        );
        const gated = gatedSlices(given, silent, keepsLast);
        const served = (slices: readonly SourceSlice[]) =>
          slices.flatMap(({ endpoints }) => endpoints.map(({ address, conditions }) => [address, conditions.serving]));
        expect(served(gated)).toEqual(served(given));
        const isLost = given.some(hasReady) && !gated.some(hasReady);
        expect(keepsLast && isLost).toBe(false);
      }),
    );
  });
});
