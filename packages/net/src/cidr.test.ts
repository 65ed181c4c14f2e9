import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contains, hostCidr, mustParseCidr, parseCidr } from './cidr.ts';
import { parseIp } from './ip.ts';

const ipv4 = fc.ipV4();
const ipv6 = fc
  .ipV6()
  .map(parseIp)
  .filter((parsed) => parsed.ok)
  .map((parsed) => parsed.value);

describe('hostCidr', () => {
  it.each([
    { name: 'gives IPv4 32 bits', ip: '10.4.1.38', want: '10.4.1.38/32' },
    { name: 'gives IPv6 128 bits', ip: 'fd00::26', want: 'fd00::26/128' },
  ])('$name', ({ ip, want }) => {
    expect(hostCidr(ip)).toBe(want);
  });
});

describe('parseCidr', () => {
  it.each([
    { name: 'keeps a network', raw: '10.4.0.0/16', text: '10.4.0.0/16', family: 4, prefixLength: 16 },
    { name: 'clears the bits of the host', raw: '10.4.1.38/16', text: '10.4.0.0/16', family: 4, prefixLength: 16 },
    { name: 'clears bits inside an octet', raw: '10.4.255.1/17', text: '10.4.128.0/17', family: 4, prefixLength: 17 },
    { name: 'accepts all of IPv4', raw: '1.2.3.4/0', text: '0.0.0.0/0', family: 4, prefixLength: 0 },
    { name: 'accepts one address', raw: '10.4.1.38/32', text: '10.4.1.38/32', family: 4, prefixLength: 32 },
    { name: 'spells IPv6 canonically', raw: 'FD00:0::1/64', text: 'fd00::/64', family: 6, prefixLength: 64 },
    { name: 'clears bits inside a group', raw: 'fd00:ffff::/20', text: 'fd00:f000::/20', family: 6, prefixLength: 20 },
  ])('$name', ({ raw, text, family, prefixLength }) => {
    expect(parseCidr(raw)).toEqual({ ok: true, value: { text, family, prefixLength } });
  });

  it.each([
    { name: 'refuses a bare address', raw: '10.0.0.1' },
    { name: 'refuses an empty length', raw: '10.0.0.0/' },
    { name: 'refuses a length beyond IPv4', raw: '10.0.0.0/33' },
    { name: 'refuses a length beyond IPv6', raw: 'fd00::/129' },
    { name: 'refuses a length with a leading zero', raw: '10.0.0.0/08' },
    { name: 'refuses a netmask', raw: '10.0.0.0/255.0.0.0' },
    { name: 'refuses a negative length', raw: '10.0.0.0/-1' },
    { name: 'refuses two lengths', raw: '10.0.0.0/8/8' },
    { name: 'refuses an octal address', raw: '010.0.0.0/8' },
    { name: 'refuses IPv4 in IPv6 notation', raw: '::ffff:10.0.0.0/104' },
  ])('$name', ({ raw }) => {
    expect(parseCidr(raw)).toMatchObject({ ok: false });
  });

  it('parses its own text', () => {
    fc.assert(
      fc.property(ipv6, fc.nat(128), (ip, length) => {
        const { text } = mustParseCidr(`${ip}/${length}`);
        expect(mustParseCidr(text).text).toBe(text);
      }),
    );
  });
});

describe('contains', () => {
  it.each([
    { name: 'has its first address', block: '10.4.0.0/16', ip: '10.4.0.0', want: true },
    { name: 'has its last address', block: '10.4.0.0/16', ip: '10.4.255.255', want: true },
    { name: 'ends before the next block', block: '10.4.0.0/16', ip: '10.5.0.0', want: false },
    { name: 'begins after the block before', block: '10.4.128.0/17', ip: '10.4.127.255', want: false },
    { name: 'compares IPv6 up to the prefix', block: 'fd00:f000::/20', ip: 'fd00:f123::1', want: true },
    { name: 'compares IPv6 no further than the prefix', block: 'fd00:f000::/20', ip: 'fd00:e123::1', want: false },
    { name: 'has no IPv4 address in ::/0', block: '::/0', ip: '10.0.0.1', want: false },
    { name: 'has no IPv6 address in 0.0.0.0/0', block: '0.0.0.0/0', ip: '::1', want: false },
  ])('$name', ({ block, ip, want }) => {
    expect(contains(mustParseCidr(block), ip)).toBe(want);
  });

  it('is true if the block of that length around the address is the same', () => {
    const pairs = fc.oneof(fc.tuple(ipv4, ipv4, fc.nat(32)), fc.tuple(ipv6, ipv6, fc.nat(128)));
    fc.assert(
      fc.property(pairs, ([a, b, length]) => {
        const block = mustParseCidr(`${a}/${length}`);
        expect(contains(block, a)).toBe(true);
        expect(contains(block, b)).toBe(mustParseCidr(`${b}/${length}`).text === block.text);
      }),
    );
  });
});
