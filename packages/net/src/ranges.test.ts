import { describe, expect, it } from 'vitest';
import { mustParseCidr } from './cidr.ts';
import { isPublic, parseRange, partProblem, widthProblem } from './ranges.ts';

/** A sentence with some words, or none. */
const expected = (words: string | undefined): unknown => words && (expect.stringContaining(words) as unknown);

describe('parseRange', () => {
  it.each(['10.0.0.0/8', '100.64.0.0/10', '192.168.0.0/16', '8.8.8.0/24', '240.0.0.0/8', 'fd00::/8', '2001:db8::/32'])(
    'reads %s',
    (raw) => {
      expect(parseRange(raw)).toMatchObject({ ok: true, value: { text: raw } });
    },
  );

  it.each([
    { raw: '0.0.0.0/0', reason: '0.0.0.0/0 is too wide' },
    { raw: '0.0.0.0/1', reason: '0.0.0.0/1 is too wide' },
    { raw: '10.0.0.0/7', reason: '10.0.0.0/7 is too wide' },
    { raw: '::/0', reason: '::/0 is too wide' },
    { raw: '127.0.0.0/8', reason: '127.0.0.0/8 is loopback' },
    { raw: '169.254.0.0/16', reason: '169.254.0.0/16 is link-local' },
    { raw: '169.254.169.254/32', reason: '169.254.169.254/32 is link-local' },
    { raw: '100.100.100.200/32', reason: '100.100.100.200/32 is a cloud’s metadata service' },
    { raw: 'fd00:ec2::254/128', reason: 'fd00:ec2::254/128 is a cloud’s metadata service' },
    { raw: 'fe80::/64', reason: 'fe80::/64 is link-local' },
    { raw: '::ffff:10.0.0.0/104', reason: 'not a valid CIDR' },
    { raw: '10.0.0.0', reason: 'no prefix length' },
  ])('refuses $raw', ({ raw, reason }) => {
    expect(parseRange(raw)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) as string });
  });
});

it.each([
  { range: '10.4.0.0/16', want: false },
  { range: '100.64.0.0/16', want: false },
  { range: 'fd00:10::/56', want: false },
  { range: '8.8.8.0/24', want: true },
  { range: '172.0.0.0/8', want: true },
  { range: '2600:1f14::/56', want: true },
])('$range is public: $want', ({ range, want }) => {
  expect(isPublic(mustParseCidr(range))).toBe(want);
});

it.each([
  { ranges: ['10.0.0.0/8', '11.0.0.0/8', 'fd00::/8'], want: undefined },
  { ranges: ['10.0.0.0/8', '11.0.0.0/8', '12.0.0.0/24'], want: 'IPv4' },
  { ranges: ['fc00::/8', 'fd00::/8', '2001:db8::/32'], want: 'IPv6' },
])('$ranges together are too wide: $want', ({ ranges, want }) => {
  expect(widthProblem(ranges.map(mustParseCidr))).toEqual(expected(want));
});

it.each([
  { part: '10.4.0.0/24', want: undefined },
  { part: '100.100.101.0/24', want: undefined },
  { part: 'fd00:10:244::/64', want: undefined },
  { part: '100.100.100.0/24', want: '100.100.100.0/24 has addresses of 100.100.100.200/32' },
  { part: '169.254.169.254/32', want: '169.254.169.254/32 is link-local' },
  { part: '168.0.0.0/7', want: '168.0.0.0/7 has addresses of 169.254.0.0/16' },
  { part: 'fd00:ec2::/64', want: 'fd00:ec2::/64 is a cloud’s metadata service' },
  { part: 'fd00::/12', want: 'fd00::/12 has addresses of fd00:ec2::/32' },
])('the Pods of a node can have $part: $want', ({ part, want }) => {
  expect(partProblem(mustParseCidr(part))).toEqual(expected(want));
});
