import { parseCidr } from '@kube-semaphore/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRoutes } from './parse-routes.ts';
import type { Route } from '../route.ts';

const destinations = {
  4: fc.tuple(fc.ipV4(), fc.nat(32)),
  6: fc.tuple(fc.ipV6(), fc.nat(128)),
} as const;

const routesOf = (family: 4 | 6): fc.Arbitrary<readonly Route[]> =>
  fc.array(
    fc.record({
      destination: destinations[family]
        .map(([ip, length]) => parseCidr(`${ip}/${length}`))
        .filter((cidr) => cidr.ok)
        .map((cidr) => cidr.value.text),
      device: fc.constantFrom(undefined, 'eth0', 'wireguard.c2'),
      protocol: fc.oneof(fc.constant(3), fc.nat(255)),
    }),
    { maxLength: 3 },
  );

/** As iproute2 writes it: no length on a whole address, no address on a default route, and no protocol on its own routes. */
function render({ destination, device, protocol }: Route): object {
  const dst = destination
    .replace(/^(0\.0\.0\.0|::)\/0$/, 'default')
    .replace(destination.includes(':') ? /\/128$/ : /\/32$/, '');
  return {
    dst,
    ...(device === undefined ? {} : { dev: device }),
    ...(protocol === 3 ? {} : { protocol: String(protocol) }),
    scope: '253',
    flags: [],
  };
}

describe.each([4, 6] as const)('parseRoutes of IPv%i', (family) => {
  it('reads the output of ip for any routes', () => {
    fc.assert(
      fc.property(routesOf(family), (routes) => {
        expect(parseRoutes(JSON.stringify(routes.map(render)), family)).toEqual({ ok: true, value: routes });
      }),
    );
  });
});

describe('parseRoutes', () => {
  it('reads the default routes', () => {
    const text = JSON.stringify([{ dst: 'default', dev: 'eth0', protocol: '4' }]);
    expect([parseRoutes(text, 4), parseRoutes(text, 6)]).toMatchObject([
      { value: [{ destination: '0.0.0.0/0' }] },
      { value: [{ destination: '::/0' }] },
    ]);
  });

  const route = { dst: '10.4.0.0/16', dev: 'eth0', protocol: '4' };
  it.each([
    { name: 'no destination', entry: { ...route, dst: undefined }, reason: 'dst' },
    { name: 'an invalid destination', entry: { ...route, dst: '10.4.0.0/33' }, reason: '10.4.0.0/33' },
    { name: 'the other family', entry: { ...route, dst: 'fd00::/64' }, reason: 'dst' },
    { name: 'an invalid device', entry: { ...route, dev: 1 }, reason: '10.4.0.0/16": dev' },
    { name: 'a protocol by name, without -N', entry: { ...route, protocol: 'static' }, reason: 'protocol' },
  ])('refuses $name', ({ entry, reason }) => {
    expect(parseRoutes(JSON.stringify([entry]), 4)).toEqual({
      ok: false,
      reason: expect.stringContaining(reason) as string,
    });
  });
});
