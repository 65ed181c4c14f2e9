import { describe, expect, it } from 'vitest';
import { familySpec, meetsFamilies } from './families.ts';

describe('familySpec', () => {
  it.each([
    {
      name: 'one family is SingleStack',
      wanted: ['IPv6'],
      want: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] },
    },
    {
      name: 'two families are PreferDualStack',
      wanted: ['IPv6', 'IPv4'],
      want: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv6'] },
    },
    {
      name: 'an existing primary family stays if the order differs',
      wanted: ['IPv6', 'IPv4'],
      there: ['IPv4'],
      want: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] },
    },
    {
      name: 'an existing primary family stays if it is not wanted',
      wanted: ['IPv6'],
      there: ['IPv4'],
      want: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] },
    },
    {
      name: 'the second family may be removed',
      wanted: ['IPv4'],
      there: ['IPv4'],
      want: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] },
    },
    {
      name: 'an existing second family is named',
      wanted: ['IPv6', 'IPv4'],
      there: ['IPv4', 'IPv6'],
      want: { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] },
    },
  ] as const)('$name', ({ wanted, want, ...rest }) => {
    expect(familySpec(wanted, 'there' in rest ? rest.there : undefined)).toEqual(want);
  });
});

describe('meetsFamilies', () => {
  const dual = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4'] } as const;
  const single = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] } as const;

  it.each([
    { name: 'both families', spec: dual, families: ['IPv4', 'IPv6'], familyPolicy: 'PreferDualStack', want: true },
    {
      name: 'the one family of a cluster that has no other',
      spec: dual,
      families: ['IPv4'],
      familyPolicy: 'PreferDualStack',
      want: true,
    },
    { name: 'another policy', spec: dual, families: ['IPv4'], familyPolicy: 'SingleStack', want: false },
    {
      name: 'a second family that is to go',
      spec: single,
      families: ['IPv4', 'IPv6'],
      familyPolicy: 'SingleStack',
      want: false,
    },
    { name: 'another primary', spec: single, families: ['IPv6'], familyPolicy: 'SingleStack', want: false },
  ] as const)('says $want of $name', ({ spec, want, ...observed }) => {
    expect(meetsFamilies(observed, spec)).toBe(want);
  });
});
