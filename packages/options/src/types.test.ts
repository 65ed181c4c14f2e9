import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  absoluteUrl,
  apiServerUrl,
  boolean,
  cidrList,
  duration,
  integer,
  keyHashList,
  listenAddress,
  oneOf,
  rangeList,
  text,
} from './types.ts';

const port = integer({ min: 0, max: 65_535 });
const level = oneOf(['debug', 'info']);
const caUrl = absoluteUrl('https', 'file');
const idle = duration({ minMs: 1_000 });
const [aa, bb] = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`];
const noHash = 'is not sha256: and 64 hex digits';
const noPort = 'is not a whole number from 0 to 65535';
const noUrl = 'is not a URL that begins with https:// or file://';

describe('option types', () => {
  it.each([
    { name: 'boolean takes Go’s short form', parsed: boolean.parse('t'), want: true },
    { name: 'boolean takes Go’s upper-case form', parsed: boolean.parse('FALSE'), want: false },
    { name: 'boolean takes a digit', parsed: boolean.parse('0'), want: false },
    { name: 'text keeps spaces', parsed: text('name').parse(' a '), want: ' a ' },
    { name: 'oneOf takes a word of the list', parsed: level.parse('info'), want: 'info' },
    { name: 'integer takes its minimum', parsed: port.parse('0'), want: 0 },
    { name: 'integer takes its maximum', parsed: port.parse('65535'), want: 65_535 },
    { name: 'duration is in milliseconds', parsed: duration().parse('1m'), want: 60_000 },
    { name: 'duration takes zero without a minimum', parsed: duration().parse('0'), want: 0 },
    { name: 'duration is no longer than a timer can be', parsed: duration().parse('1000h'), want: 2 ** 31 - 1 },
    { name: 'listenAddress takes a port alone', parsed: listenAddress.parse(':80'), want: { host: '', port: 80 } },
    { name: 'keyHashList takes one', parsed: keyHashList.parse(aa), want: [aa] },
    {
      name: 'keyHashList takes several, and capitals',
      parsed: keyHashList.parse(`${aa}, ${bb.toUpperCase()}`),
      want: [aa, bb],
    },
    { name: 'absoluteUrl keeps the text', parsed: caUrl.parse('https://h:6443/a/../b'), want: 'https://h:6443/a/../b' },
    { name: 'absoluteUrl takes a file', parsed: caUrl.parse('file:///etc/ca.crt'), want: 'file:///etc/ca.crt' },
    { name: 'absoluteUrl takes capitals', parsed: caUrl.parse('HTTPS://h'), want: 'HTTPS://h' },
  ])('$name', ({ parsed, want }) => {
    expect(parsed).toEqual({ ok: true, value: want });
  });

  it.each([
    { name: 'boolean refuses yes', type: boolean, raw: 'yes', want: '"yes" is neither true nor false' },
    { name: 'boolean refuses mixed case', type: boolean, raw: 'tRUE', want: '"tRUE" is neither true nor false' },
    { name: 'oneOf refuses other words', type: level, raw: 'Info', want: '"Info" is not one of debug, info' },
    { name: 'integer refuses too much', type: port, raw: '65536', want: `"65536" ${noPort}` },
    { name: 'integer refuses a fraction', type: port, raw: '1.0', want: `"1.0" ${noPort}` },
    { name: 'integer refuses hexadecimal', type: port, raw: '0x1', want: `"0x1" ${noPort}` },
    { name: 'integer refuses a leading zero', type: port, raw: '010', want: `"010" ${noPort}` },
    { name: 'integer refuses a space', type: port, raw: ' 1', want: `" 1" ${noPort}` },
    { name: 'duration refuses less than zero', type: duration(), raw: '-1s', want: '"-1s" is less than 0' },
    { name: 'duration refuses less than its minimum', type: idle, raw: '1ms', want: '"1ms" is less than 1s' },
    {
      name: 'keyHashList refuses a bare hash',
      type: keyHashList,
      raw: aa.slice(7),
      want: `"${aa.slice(7)}" ${noHash}`,
    },
    {
      name: 'keyHashList names every bad one',
      type: keyHashList,
      raw: `${aa},sha1:1,`,
      want: `"sha1:1" ${noHash}; "" ${noHash}`,
    },
    { name: 'absoluteUrl refuses other schemes', type: caUrl, raw: 'ftp://h', want: `"ftp://h" ${noUrl}` },
    { name: 'absoluteUrl refuses a bare host', type: caUrl, raw: 'h:6443', want: `"h:6443" ${noUrl}` },
    { name: 'absoluteUrl refuses a URL without slashes', type: caUrl, raw: 'https:h', want: `"https:h" ${noUrl}` },
    {
      name: 'absoluteUrl does not repeat a password',
      type: caUrl,
      raw: 'https://u:s3cret@h',
      want: 'the URL has a user name or a password: put them into a kubeconfig',
    },
  ])('$name', ({ type, raw, want }) => {
    expect(type.parse(raw)).toEqual({ ok: false, reason: want });
  });

  it.each([
    { name: 'every bad one', raw: 'x,10.0.0.0/8,y', want: /"x".*; "y"/ },
    { name: 'an empty one', raw: '10.0.0.0/8,', want: /"" is not a valid CIDR/ },
  ])('cidrList names $name', ({ raw, want }) => {
    const parsed = cidrList.parse(raw);
    expect(parsed.ok ? '' : parsed.reason).toMatch(want);
  });

  it.each(['https://c2:6443', 'http://127.0.0.1:8001', 'http://[::1]:8001', 'http://localhost:8001/k8s'])(
    'apiServerUrl takes %s',
    (raw) => {
      expect(apiServerUrl.parse(raw)).toEqual({ ok: true, value: raw });
    },
  );

  it.each(['http://c2', 'ftp://c2', 'c2:6443', 'https://a:b@c2', 'http://127.0.0.1.example.com'])(
    'apiServerUrl refuses %s',
    (raw) => {
      expect(apiServerUrl.parse(raw)).toMatchObject({ ok: false });
    },
  );

  it.each([
    { raw: '10.0.0.0/8,0.0.0.0/1,::/0', want: /^0\.0\.0\.0\/1 is too wide .*; ::\/0 is too wide / },
    { raw: '10.4.0.0/16,169.254.0.0/16', want: /^169\.254\.0\.0\/16 is link-local/ },
    { raw: '10.0.0.0/8,11.0.0.0/8,12.0.0.0/8', want: /^the ranges of IPv4 together are too wide/ },
  ])('rangeList refuses $raw', ({ raw, want }) => {
    const parsed = rangeList.parse(raw);
    expect(parsed.ok ? '' : parsed.reason).toMatch(want);
  });

  it('rangeList reads ranges of Pods', () => {
    const parsed = rangeList.parse('10.0.0.0/8,8.8.8.0/24, fd00:4::/48');
    expect(parsed.ok && rangeList.format(parsed.value)).toBe('10.0.0.0/8,8.8.8.0/24,fd00:4::/48');
  });

  it('cidrList reads a list with spaces', () => {
    const parsed = cidrList.parse('10.4.0.0/16, fd00::/64');
    expect(parsed.ok && cidrList.format(parsed.value)).toBe('10.4.0.0/16,fd00::/64');
  });

  it.each([
    { name: 'any address', raw: ':8080' },
    { name: 'IPv4', raw: '127.0.0.1:0' },
    { name: 'IPv6', raw: '[::1]:8080' },
  ])('listenAddress spells $name as it was read', ({ raw }) => {
    const parsed = listenAddress.parse(raw);
    expect(parsed.ok && listenAddress.format(parsed.value)).toBe(raw);
  });

  it('integer reads what Number reads', () => {
    fc.assert(
      fc.property(fc.integer(), (value) => {
        expect(integer({ min: -(2 ** 31), max: 2 ** 31 }).parse(String(value))).toEqual({ ok: true, value });
      }),
    );
  });
});
