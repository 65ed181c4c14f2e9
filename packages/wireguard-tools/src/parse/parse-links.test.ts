import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Link } from '../link.ts';
import { parseLinks } from './parse-links.ts';

const link: fc.Arbitrary<Link> = fc.record({
  name: fc.stringMatching(/^[a-z0-9.-]{1,15}$/),
  index: fc.integer({ min: 1, max: 1 << 30 }),
  kind: fc.constantFrom(undefined, 'wireguard', 'tun', 'veth'),
  up: fc.boolean(),
  mtuBytes: fc.integer({ min: 68, max: 65_536 }),
  alias: fc.string(),
  addresses: fc.array(
    fc.oneof(
      fc.record({ ip: fc.ipV4(), prefixLength: fc.nat(32) }),
      fc.record({ ip: fc.constantFrom('::1', 'fe80::75c5:76d1:7b2b:d3f'), prefixLength: fc.nat(128) }),
    ),
    { maxLength: 3 },
  ),
  receiveFrameErrors: fc.option(fc.nat(), { nil: undefined }),
  receivedBytes: fc.option(fc.nat(), { nil: undefined }),
  sentBytes: fc.option(fc.nat(), { nil: undefined }),
});

/** The fields of iproute2's answer that we read, among some that we don't. */
function render({ name, index, kind, up, mtuBytes, alias, addresses, ...counts }: Link): object {
  const { receiveFrameErrors, receivedBytes, sentBytes } = counts;
  return {
    ifindex: index,
    ifname: name,
    flags: up ? ['NOARP', 'UP', 'LOWER_UP'] : ['NOARP'],
    mtu: mtuBytes,
    operstate: 'UNKNOWN',
    ...(kind === undefined ? {} : { linkinfo: { info_kind: kind, info_data: {} } }),
    ...(alias === '' ? {} : { ifalias: alias }),
    addr_info: addresses.map(({ ip, prefixLength }) => ({
      family: ip.includes(':') ? 'inet6' : 'inet',
      local: ip,
      prefixlen: prefixLength,
      scope: 'global',
    })),
    stats64: { rx: { errors: 1, frame_errors: receiveFrameErrors, bytes: receivedBytes }, tx: { bytes: sentBytes } },
  };
}

describe('parseLinks', () => {
  it('reads the output of ip for any links', () => {
    fc.assert(
      fc.property(fc.array(link, { maxLength: 3 }), (links) => {
        expect(parseLinks(JSON.stringify(links.map(render)))).toEqual({ ok: true, value: links });
      }),
    );
  });

  it.each([
    { name: 'nothing', text: '' },
    { name: 'an empty list', text: '[]\n' },
    { name: 'the empty objects of some versions', text: '[{},{}]' },
  ])('takes $name for no link', ({ text }) => {
    expect(parseLinks(text)).toEqual({ ok: true, value: [] });
  });

  const lo = { ifindex: 1, ifname: 'lo', flags: ['UP'], mtu: 65_536, addr_info: [] };
  it.each([
    { name: 'the name', text: JSON.stringify([{ ...lo, ifname: 1 }]), reason: 'ifname' },
    { name: 'the index', text: JSON.stringify([{ ...lo, ifindex: '1' }]), reason: 'link lo: ifindex' },
    { name: 'the MTU', text: JSON.stringify([lo, { ...lo, mtu: undefined }]), reason: 'link lo: mtu' },
    { name: 'the flags', text: JSON.stringify([{ ...lo, flags: 'UP' }]), reason: 'link lo: flags' },
    { name: 'the alias', text: JSON.stringify([{ ...lo, ifalias: {} }]), reason: 'link lo: ifalias' },
    { name: 'the kind', text: JSON.stringify([{ ...lo, linkinfo: { info_kind: 1 } }]), reason: 'link lo: linkinfo' },
    {
      name: 'an address',
      text: JSON.stringify([{ ...lo, addr_info: [{ family: 'inet', local: '1' }] }]),
      reason: 'link lo: addr_info',
    },
    { name: 'the JSON', text: '[{', reason: 'not a JSON list' },
    { name: 'the list', text: '{}', reason: 'not a JSON list' },
    { name: 'an entry', text: '[1]', reason: 'not a JSON list' },
  ])('names $name that is wrong', ({ text, reason }) => {
    expect(parseLinks(text)).toEqual({ ok: false, reason: expect.stringContaining(reason) as string });
  });
});
