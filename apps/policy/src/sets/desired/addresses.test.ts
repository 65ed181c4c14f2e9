import { compareCidrs, hostCidr, parseIp } from '@kube-semaphore/net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readNet, sortedHosts } from './addresses.ts';

const anyIp = fc
  .oneof(fc.ipV4(), fc.ipV6())
  .map(parseIp)
  .filter((ip) => ip.ok)
  .map((ip) => ip.value);

describe('readNet', () => {
  it.each([
    { name: 'keeps a canonical host', raw: '10.4.1.38/32', want: '10.4.1.38/32' },
    { name: 'keeps a canonical IPv6 host', raw: 'fd00::26/128', want: 'fd00::26/128' },
    { name: 'adds the length to an address', raw: '10.4.1.38', want: '10.4.1.38/32' },
    { name: 'adds the length to an IPv6 address', raw: 'FD00::26', want: 'fd00::26/128' },
    { name: 'respells IPv6', raw: 'fd00:0:0::26/128', want: 'fd00::26/128' },
    { name: 'clears the bits of the host', raw: '10.4.1.38/16', want: '10.4.0.0/16' },
    { name: 'clears the bits of an IPv6 host (Go writes /32 for every family)', raw: 'fd00::26/32', want: 'fd00::/32' },
    { name: 'refuses a length that is invalid in the family', raw: '10.4.1.38/128', want: undefined },
    { name: 'refuses garbage', raw: 'my-app', want: undefined },
    { name: 'refuses an empty text', raw: '', want: undefined },
  ])('$name', ({ raw, want }) => {
    expect(readNet(raw)).toBe(want);
  });

  it('reads every address as its host', () => {
    fc.assert(
      fc.property(anyIp, (ip) => {
        expect(readNet(hostCidr(ip))).toBe(hostCidr(ip));
      }),
    );
  });
});

describe('sortedHosts', () => {
  it('returns each address once, by number, IPv4 first', () => {
    expect(sortedHosts(['fd00::10', '10.0.0.10', '224.0.0.1', 'fd00::9', '10.0.0.9', '10.0.0.10'])).toEqual([
      '10.0.0.9/32',
      '10.0.0.10/32',
      '224.0.0.1/32',
      'fd00::9/128',
      'fd00::10/128',
    ]);
  });

  it('has the order of compareCidrs', () => {
    fc.assert(
      fc.property(fc.array(anyIp), (ips) => {
        expect(sortedHosts(ips)).toEqual([...new Set(ips)].map(hostCidr).toSorted(compareCidrs));
      }),
    );
  });
});
