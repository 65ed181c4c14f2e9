import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIp } from './ip.ts';

/** The canonical spelling by another implementation, the URL parser; undefined if it refuses. */
function spelledByUrl(raw: string): string | undefined {
  const url = URL.parse(`http://[${raw}]/`);
  return url === null ? undefined : url.hostname.slice(1, -1);
}

/** IPv4-mapped, or the older `::10.0.0.1`: the URL parser accepts them, and we don't. */
const isIpv4Within = (raw: string) => /^::ffff:[^:]+:[^:]+$/.test(spelledByUrl(raw) ?? '') || /^::\d+\./.test(raw);

describe('parseIp', () => {
  it.each([
    { name: 'keeps an IPv4 address', raw: '10.4.1.38', want: '10.4.1.38' },
    { name: 'keeps the last IPv4 address', raw: '255.255.255.255', want: '255.255.255.255' },
    { name: 'lowers the case of IPv6', raw: 'FD00::AB', want: 'fd00::ab' },
    { name: 'drops leading zeros of a group', raw: 'fd00::0026', want: 'fd00::26' },
    { name: 'compresses the longest run of zeros', raw: 'fd00:0:0:1:0:0:0:26', want: 'fd00:0:0:1::26' },
    { name: 'compresses the first of two equal runs', raw: 'fd00:0:0:1:2:0:0:26', want: 'fd00::1:2:0:0:26' },
    { name: 'keeps a single zero group', raw: 'fd00:0:1:2:3:4:5:6', want: 'fd00:0:1:2:3:4:5:6' },
    { name: 'accepts the unspecified address', raw: '0:0:0:0:0:0:0:0', want: '::' },
    { name: 'accepts a dotted tail', raw: '64:ff9b::192.0.2.33', want: '64:ff9b::c000:221' },
  ])('$name', ({ raw, want }) => {
    expect(parseIp(raw)).toEqual({ ok: true, value: want });
  });

  it.each([
    { name: 'refuses an empty text', raw: '' },
    { name: 'refuses an octal part', raw: '010.0.0.1' },
    { name: 'refuses a hexadecimal part', raw: '0x0a.0.0.1' },
    { name: 'refuses two parts', raw: '10.1' },
    { name: 'refuses a bare number', raw: '167772161' },
    { name: 'refuses a part over 255', raw: '10.0.0.256' },
    { name: 'refuses a space', raw: ' 10.0.0.1' },
    { name: 'refuses a line end', raw: '10.0.0.1\n' },
    { name: 'refuses a name', raw: 'localhost' },
    { name: 'refuses a CIDR', raw: '10.0.0.1/32' },
    { name: 'refuses brackets', raw: '[::1]' },
    { name: 'refuses a zone id', raw: 'fe80::1%eth0' },
    { name: 'refuses a zone id that is a number', raw: 'fe80::1%1' },
    { name: 'refuses two gaps', raw: 'fd00::1::2' },
    { name: 'refuses nine groups', raw: '1:2:3:4:5:6:7:8:9' },
    { name: 'refuses a group of five digits', raw: 'fd00::12345' },
    { name: 'refuses an octal dotted tail', raw: '64:ff9b::010.0.0.1' },
    { name: 'refuses IPv4 in IPv6 notation', raw: '::ffff:10.0.0.1' },
    { name: 'refuses IPv4 in the older IPv6 notation', raw: '::10.0.0.1' },
    { name: 'refuses IPv4 in IPv6 notation in hexadecimal', raw: '::ffff:a00:1' },
  ])('$name', ({ raw }) => {
    expect(parseIp(raw)).toMatchObject({ ok: false });
  });

  it('repeats only an excerpt of a bad value', () => {
    const parsed = parseIp('f:'.repeat(500_000));
    expect(parsed.ok ? '' : parsed.reason).toMatch(/^.{1,100}$/);
  });

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (raw) => {
        const once = parseIp(raw);
        expect(once.ok ? parseIp(once.value) : once).toEqual(once);
      }),
    );
  });

  it('spells IPv6 like the URL parser', () => {
    fc.assert(
      fc.property(fc.ipV6(), (raw) => {
        fc.pre(!isIpv4Within(raw));
        expect(parseIp(raw)).toEqual({ ok: true, value: spelledByUrl(raw) });
      }),
    );
  });

  it('refuses everything like IPv6 that the URL parser refuses', () => {
    const piece = fc.constantFrom(':', '::', '0', '1', 'ab', 'F', 'ffff', '.', '8.8');
    const likeIpv6 = fc.string({ unit: piece, maxLength: 16 });
    fc.assert(
      fc.property(likeIpv6, (raw) => {
        fc.pre(raw.includes(':'));
        const parsed = parseIp(raw);
        expect(parsed.ok ? parsed.value : undefined).toBe(isIpv4Within(raw) ? undefined : spelledByUrl(raw));
      }),
      { numRuns: 2_000 },
    );
  });
});
