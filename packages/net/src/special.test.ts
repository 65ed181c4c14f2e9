import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { addressAt } from './blocks.ts';
import { type Cidr, contains, mustParseCidr } from './cidr.ts';
import { parseIp } from './ip.ts';
import { isLoopbackHost, specialUse } from './special.ts';

type Kind = 'never' | 'reserved' | 'ordinary';

function kindOf(ip: string): Kind {
  const use = specialUse(ip);
  if (use === undefined) return 'ordinary';
  return use.isReserved ? 'reserved' : 'never';
}

/** All rows of IANA's IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890), except those that `parseIp` refuses. */
const REGISTRY: readonly (readonly [block: string, kind: Kind, name: string])[] = [
  ['0.0.0.0/8', 'never', 'this network'],
  ['0.0.0.0/32', 'never', 'this host on this network'],
  ['10.0.0.0/8', 'ordinary', 'private use'],
  ['100.64.0.0/10', 'ordinary', 'shared address space'],
  ['127.0.0.0/8', 'never', 'loopback'],
  ['169.254.0.0/16', 'never', 'link-local'],
  ['172.16.0.0/12', 'ordinary', 'private use'],
  ['192.0.0.0/24', 'ordinary', 'IETF protocol assignments'],
  ['192.0.2.0/24', 'ordinary', 'documentation'],
  ['192.31.196.0/24', 'ordinary', 'AS112-v4'],
  ['192.52.193.0/24', 'ordinary', 'AMT'],
  ['192.88.99.0/24', 'ordinary', '6to4 relay anycast, deprecated'],
  ['192.168.0.0/16', 'ordinary', 'private use'],
  ['192.175.48.0/24', 'ordinary', 'direct delegation AS112'],
  ['198.18.0.0/15', 'ordinary', 'benchmarking'],
  ['198.51.100.0/24', 'ordinary', 'documentation'],
  ['203.0.113.0/24', 'ordinary', 'documentation'],
  ['240.0.0.0/8', 'reserved', 'reserved, its beginning'],
  ['255.255.254.0/24', 'reserved', 'reserved, its end'],
  ['255.255.255.255/32', 'never', 'limited broadcast'],
  ['::1/128', 'never', 'loopback'],
  ['::/128', 'never', 'unspecified'],
  ['64:ff9b::/96', 'never', 'IPv4-IPv6 translation'],
  ['64:ff9b:1::/48', 'never', 'IPv4-IPv6 translation, local use'],
  ['100::/64', 'reserved', 'discard-only'],
  ['100:0:0:1::/64', 'reserved', 'dummy prefix'],
  ['2001::/32', 'never', 'Teredo'],
  ['2001:1::1/128', 'ordinary', 'port control protocol anycast'],
  ['2001:1::2/128', 'ordinary', 'TURN anycast'],
  ['2001:1::3/128', 'ordinary', 'DNS-SD anycast'],
  ['2001:2::/48', 'ordinary', 'benchmarking'],
  ['2001:3::/32', 'ordinary', 'AMT'],
  ['2001:4:112::/48', 'ordinary', 'AS112-v6'],
  ['2001:10::/28', 'reserved', 'ORCHID, deprecated'],
  ['2001:20::/28', 'reserved', 'ORCHIDv2'],
  ['2001:30::/28', 'reserved', 'drone remote ID'],
  ['2001:db8::/32', 'ordinary', 'documentation'],
  ['2002::/16', 'never', '6to4'],
  ['2620:4f:8000::/48', 'ordinary', 'direct delegation AS112'],
  ['3fff::/20', 'ordinary', 'documentation'],
  ['5f00::/16', 'reserved', 'segment routing SIDs'],
  ['fc00::/7', 'ordinary', 'unique-local'],
  ['fe80::/10', 'never', 'link-local'],
  // From the registries of multicast addresses.
  ['224.0.0.0/4', 'never', 'multicast'],
  ['ff00::/8', 'never', 'multicast'],
];

/** The last address of a block. */
const lastOf = ({ text, family }: Cidr): string =>
  family === 4
    ? ipaddr.IPv4.broadcastAddressFromCIDR(text).toString()
    : ipaddr.IPv6.broadcastAddressFromCIDR(text).toRFC5952String();

describe('specialUse', () => {
  it.each(REGISTRY)('%s is %s: %s', (text, want) => {
    const block = mustParseCidr(text);
    expect([addressAt(block, 0)!, lastOf(block)].map(kindOf)).toEqual([want, want]);
  });

  it.each([
    { ip: '0.0.0.1', what: 'unspecified' },
    { ip: '127.9.9.9', what: 'loopback' },
    { ip: '169.254.169.254', what: 'link-local' },
    { ip: '224.0.1.1', what: 'multicast' },
    { ip: '239.255.255.250', what: 'multicast' },
    { ip: 'ff05::1', what: 'multicast' },
    { ip: 'ff0e::1', what: 'multicast' },
    { ip: 'febf::1', what: 'link-local' },
    { ip: '64:ff9b::a9fe:a9fe', what: 'an IPv4 address behind a translator or tunnel' },
    { ip: '::a9fe:a9fe', what: 'an IPv4 address in IPv6 notation' },
    { ip: '::ffff:0:a9fe:a9fe', what: 'an IPv4 address in IPv6 notation' },
    ...[
      '100.100.100.200',
      '168.63.129.16',
      '192.0.0.192',
      'fd00:ec2::254',
      'fd00:ec2::23',
      'fd20:ce::254',
      'fd00:c1::a9fe:a9fe',
      'fd00:42::42',
      'fd00:a9fe:a9fe::1',
      'fd00:100::100:200',
    ].map((ip) => ({ ip, what: 'a cloud’s metadata service' })),
  ])('says that $ip is $what', ({ ip, what }) => {
    expect(specialUse(ip)?.what).toBe(what);
    expect(kindOf(ip)).toBe('never');
  });

  it.each([
    '1.0.0.1',
    '12.7.0.1',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '169.255.0.1',
    '223.255.255.255',
    '100.100.100.201',
    '168.63.129.15',
    'fd00::1',
    'fd00:ec1::254',
    'fd00:ec3::254',
    'fe7f::1',
    'fec0::1',
    'fe8::1',
    '64:ff9b:2::1',
    '64:ff9c::1',
    '2003::1',
    '2001:1::',
    '0:0:0:1::',
  ])('takes %s for ordinary', (raw) => {
    const ip = parseIp(raw);
    expect(ip.ok && kindOf(ip.value)).toBe('ordinary');
  });

  it('returns the block of the address', () => {
    const heads = fc.constantFrom(
      '',
      '0.',
      '127.',
      '169.254.',
      '224.',
      '239.',
      '240.',
      '255.255.',
      'fe',
      'ff',
      '2001:',
      '2002:',
      '64:ff9b:',
      '100:',
      'fd00:',
      '::',
    );
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), heads, (random, head) => {
        const ip = parseIp(head + random.slice(head.length));
        fc.pre(ip.ok);
        const use = specialUse(ip.value);
        fc.pre(use !== undefined);
        expect(contains(use.cidr, ip.value)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('finds every IPv4 address in an IPv6 notation', () => {
    const hex = (number: number): string => number.toString(16);
    const spellings = fc
      .tuple(fc.nat(0xffff), fc.nat(0xffff))
      .map(([high, low]) => [
        `::${hex(high)}:${hex(low)}`,
        `::ffff:${hex(high)}:${hex(low)}`,
        `::ffff:0:${hex(high)}:${hex(low)}`,
        `64:ff9b::${hex(high)}:${hex(low)}`,
        `64:ff9b:1:${hex(high)}:${hex(low >> 8)}:${hex((low & 0xff) << 8)}::`,
        `64:ff9b:1::${hex(high)}:${hex(low)}`,
        `2002:${hex(high)}:${hex(low)}::1`,
        `2001:0:${hex(high)}:${hex(low)}::1`,
        `2001::${hex(high ^ 0xffff)}:${hex(low ^ 0xffff)}`,
      ]);
    fc.assert(
      fc.property(spellings, (raws) => {
        const passed = raws.map(parseIp).filter((ip) => ip.ok && kindOf(ip.value) !== 'never');
        expect(passed).toEqual([]);
      }),
    );
  });
});

it.each(['localhost', '127.0.0.1', '127.9.9.9', '::1'])('%s is this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

it.each(['localhost.example.com', '127.0.0.1.example.com', '127.example.com', '128.0.0.1', '::2', '10.0.0.1', ''])(
  '%s is not this machine',
  (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  },
);
