import { describe, expect, it } from 'vitest';
import { mustParseCidr } from '@kube-semaphore/net';
import { familiesOf, inFamilies } from './families.ts';

const ipv4 = mustParseCidr('10.4.0.0/16');
const ipv6 = mustParseCidr('fd00:4::/48');
const EMPTY = 'it must have ipv4, ipv6 or both; without the field, both are used';

describe('familiesOf', () => {
  it.each([
    { name: 'both where the field is absent', raw: undefined, ranges: [ipv4], want: undefined },
    { name: 'one', raw: ['ipv6'], ranges: [ipv4, ipv6], want: [6] },
    { name: 'each once, in one order', raw: ['ipv6', 'ipv4', 'ipv6'], ranges: [ipv4, ipv6], want: [4, 6] },
    { name: 'one where any address is allowed', raw: ['ipv4'], ranges: undefined, want: [4] },
    { name: 'one where the ranges have problems of their own', raw: ['ipv4'], ranges: [], want: [4] },
  ])('reads $name', ({ raw, ranges, want }) => {
    expect(familiesOf(raw, { ranges, field: 'podSubnet' })).toEqual({ ok: true, value: want });
  });

  it.each([
    { name: 'an empty list', raw: [], reason: EMPTY },
    { name: 'an unknown family', raw: ['ipv4', 'IPv6'], reason: '"IPv6" is not one of ipv4, ipv6' },
    { name: 'a family that the ranges lack', raw: ['ipv6'], reason: 'podSubnet has no range of ipv6' },
  ])('refuses $name', ({ raw, reason }) => {
    expect(familiesOf(raw, { ranges: [ipv4], field: 'podSubnet' })).toEqual({ ok: false, reason });
  });
});

describe('inFamilies', () => {
  it.each([
    { name: 'all of both families', families: undefined, ranges: [ipv4, ipv6], want: [ipv4, ipv6] },
    { name: 'those of one family', families: [6] as const, ranges: [ipv4, ipv6], want: [ipv6] },
    { name: 'no limit where there is none', families: [6] as const, ranges: undefined, want: undefined },
  ])('keeps $name', ({ families, ranges, want }) => {
    expect(inFamilies(ranges, families)).toEqual(want);
  });
});
