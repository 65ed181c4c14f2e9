import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCidr } from './cidr.ts';
import { parseIp } from './ip.ts';
import { compareCidrs, compareIps } from './order.ts';

/** The number of an address, independent of `groups.ts`: from the URL parser's text. */
function numberOf(ip: string): bigint {
  if (!ip.includes(':')) return ip.split('.').reduce((number, octet) => number * 256n + BigInt(octet), 0n);
  const [head = '', tail = ''] = ip.split('::');
  const before = head === '' ? [] : head.split(':');
  const behind = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - before.length - behind.length }, () => '0');
  return [...before, ...zeros, ...behind].reduce((number, group) => number * 65_536n + BigInt(`0x${group}`), 0n);
}

const anyIp = fc
  .oneof(fc.ipV4(), fc.ipV6())
  .map(parseIp)
  .filter((parsed) => parsed.ok)
  .map((parsed) => parsed.value);

const anyCidr = fc
  .tuple(fc.constantFrom('10.0.0.0', '10.255.0.1', 'fd00::', 'fd00:1::ff'), fc.nat(32))
  .map(([ip, length]) => parseCidr(`${ip}/${length}`))
  .filter((parsed) => parsed.ok)
  .map((parsed) => parsed.value.text);

describe('compareIps', () => {
  it.each([
    { name: 'orders by number, not by text', in: ['10.0.0.10', '10.0.0.9'], want: ['10.0.0.9', '10.0.0.10'] },
    { name: 'puts the high half of IPv4 last', in: ['224.0.0.1', '10.0.0.1'], want: ['10.0.0.1', '224.0.0.1'] },
    { name: 'puts IPv4 before IPv6', in: ['::1', '255.255.255.255'], want: ['255.255.255.255', '::1'] },
    { name: 'reads a gap at the start', in: ['1::', '::1', '::'], want: ['::', '::1', '1::'] },
    { name: 'reads a gap in the middle', in: ['fd00::1:0', 'fd00::2'], want: ['fd00::2', 'fd00::1:0'] },
  ])('$name', ({ in: ips, want }) => {
    expect(ips.toSorted(compareIps)).toEqual(want);
  });

  it('orders by the numbers of the addresses', () => {
    fc.assert(
      fc.property(anyIp, anyIp, (a, b) => {
        const family = Number(a.includes(':')) - Number(b.includes(':'));
        const number = numberOf(a) - numberOf(b);
        expect(Math.sign(compareIps(a, b))).toBe(family || (number < 0n ? -1 : Number(number > 0n)));
      }),
    );
  });

  it('gives the same order for any order of the input', () => {
    fc.assert(
      fc.property(fc.array(anyIp), (ips) => {
        expect(ips.toReversed().toSorted(compareIps)).toEqual(ips.toSorted(compareIps));
      }),
    );
  });
});

describe('compareCidrs', () => {
  it('puts the wider of two blocks with the same address first', () => {
    const cidrs = ['10.0.0.1/32', '10.0.0.0/16', 'fd00::/8', '10.0.0.0/8'];
    expect(cidrs.toSorted(compareCidrs)).toEqual(['10.0.0.0/8', '10.0.0.0/16', '10.0.0.1/32', 'fd00::/8']);
  });

  it('is 0 only for equal texts', () => {
    fc.assert(
      fc.property(anyCidr, anyCidr, (a, b) => {
        expect(compareCidrs(a, b) === 0).toBe(a === b);
        expect(Math.sign(compareCidrs(a, b))).toBe(0 - Math.sign(compareCidrs(b, a)));
      }),
    );
  });
});
