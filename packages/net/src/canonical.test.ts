import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, it } from 'vitest';
import { isPlainlyCanonical } from './canonical.ts';

/** Addresses in many spellings: those of fast-check, and groups with zeros and gaps anywhere. */
const group = fc.constantFrom('0', '1', '', 'fd00', '0a', 'ABC');
const spelling = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.array(group, { maxLength: 9 }).map((groups) => groups.join(':')),
);

it('is true only for canonical addresses', () => {
  fc.assert(
    fc.property(spelling, (raw) => {
      fc.pre(isPlainlyCanonical(raw));
      expect(ipaddr.isValid(raw)).toBe(true);
      const address = ipaddr.parse(raw);
      expect('toRFC5952String' in address ? address.toRFC5952String() : address.toString()).toBe(raw);
      expect('isIPv4MappedAddress' in address && address.isIPv4MappedAddress()).toBe(false);
    }),
    { numRuns: 5_000 },
  );
});

it.each(['10.4.1.38', '255.255.255.255', 'fd00::26', 'fd00:1:2:3::1', 'fd00::'])('is true for %s', (raw) => {
  expect(isPlainlyCanonical(raw)).toBe(true);
});
