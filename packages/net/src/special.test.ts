import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contains, parseCidr } from './cidr.ts';
import { parseIp } from './ip.ts';
import { isLoopbackHost, isSpecialIp } from './special.ts';

it.each(['0.0.0.0', '127.0.0.1', '127.9.9.9', '169.254.169.254', '224.0.0.251', '::', '::1', 'fe80::1', 'febf::', 'ff01::1', 'ff02::fb'])('%s is special', (ip) => {
  expect(isSpecialIp(ip)).toBe(true);
});

it.each(['0.0.0.1', '10.4.0.1', '12.7.0.1', '128.0.0.1', '169.255.0.1', '224.0.1.1', '239.0.0.1', 'fd00::1', '::2', 'fe7f::1', 'fec0::1', 'fe8::1', '2001:db8::1', 'ff05::2'])('%s is not', (ip) => {
  expect(isSpecialIp(ip)).toBe(false);
});

const blocks = ['0.0.0.0/32', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/24', '::/128', '::1/128', 'fe80::/10', 'ff02::/16', 'ff01::/16'].map((text) => {
  const cidr = parseCidr(text);
  if (!cidr.ok) throw new TypeError(cidr.reason);
  return cidr.value;
});

it('goes by blocks of addresses, although it looks at texts', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.constantFrom('', '127.', '169.254.', '224.0.0.', 'fe', 'ff0'), (random, beginning) => {
      const ip = parseIp(beginning + random.slice(beginning.length));
      fc.pre(ip.ok);
      expect(isSpecialIp(ip.value)).toBe(blocks.some((cidr) => contains(cidr, ip.value)));
    }),
  );
});

it.each(['localhost', '127.0.0.1', '127.9.9.9', '::1'])('%s is this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(true);
});

it.each(['localhost.example.com', '127.0.0.1.example.com', '127.example.com', '128.0.0.1', '::2', '10.0.0.1', ''])('%s is not this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});
