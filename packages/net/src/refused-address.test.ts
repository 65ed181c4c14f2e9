import { describe, expect, it } from 'vitest';
import { addressRefusal } from './refused-address.ts';
import { mustParseCidr } from './cidr.ts';

const PODS = ['10.4.0.0/16', 'fd00:4::/48'];

describe('addressRefusal', () => {
  it.each<{
    name: string;
    ip: string;
    allowed?: readonly string[];
    local?: readonly string[];
    services?: readonly string[];
  }>([
    { name: 'an address where everything is allowed', ip: '10.4.0.1' },
    { name: 'an address in an allowed block', ip: '10.4.0.1', allowed: PODS },
    { name: 'an IPv6 address in an allowed block', ip: 'fd00:4::1', allowed: PODS },
    { name: 'an address in no local block', ip: '10.4.0.1', local: ['10.2.0.0/16'] },
    { name: 'a reserved address in an allowed block', ip: '240.4.0.1', allowed: ['240.4.0.0/16'] },
    { name: 'a reserved address if the whole reserved block is allowed', ip: '240.4.0.1', allowed: ['240.0.0.0/4'] },
    { name: 'an address outside of the Service ranges', ip: '10.4.0.1', services: ['10.96.0.0/16'] },
    {
      name: 'an address in a Service range if a block inside of it is allowed',
      ip: '10.97.0.1',
      allowed: ['10.97.0.0/16'],
      services: ['10.96.0.0/12'],
    },
  ])('takes $name', ({ ip, allowed, local = [], services = [] }) => {
    expect(
      addressRefusal(ip, {
        allowed: allowed?.map(mustParseCidr),
        local: local.map(mustParseCidr),
        services: services.map(mustParseCidr),
      }),
    ).toBeUndefined();
  });

  it.each<{
    name: string;
    ip: string;
    allowed?: readonly string[];
    local?: readonly string[];
    services?: readonly string[];
    want: string;
  }>([
    {
      name: 'an address in no allowed block',
      ip: '10.5.0.1',
      allowed: PODS,
      want: 'address-not-allowed: 10.5.0.1 is outside of allowedPodCIDRs',
    },
    {
      name: 'every address where nothing is allowed',
      ip: '10.4.0.1',
      allowed: [],
      want: 'address-not-allowed: 10.4.0.1 is outside of allowedPodCIDRs',
    },
    {
      name: 'an IPv6 address where all of IPv4 is allowed',
      ip: 'fd00:4::1',
      allowed: ['0.0.0.0/0'],
      want: 'address-not-allowed: fd00:4::1 is outside of allowedPodCIDRs',
    },
    {
      name: 'an address in a local block',
      ip: '10.2.0.1',
      local: ['10.2.0.0/16'],
      want: 'address-not-allowed: 10.2.0.1 is in 10.2.0.0/16 of the local cluster',
    },
    {
      name: 'an address in a local block that is also allowed',
      ip: '10.2.0.1',
      allowed: ['10.0.0.0/8'],
      local: ['10.2.0.0/16'],
      want: 'address-not-allowed: 10.2.0.1 is in 10.2.0.0/16 of the local cluster',
    },
    {
      name: 'loopback, even where it is allowed',
      ip: '127.0.0.1',
      allowed: ['127.0.0.0/8'],
      want: 'bad-address: 127.0.0.1 is loopback',
    },
    {
      name: 'a reserved address if nothing is named',
      ip: '240.4.0.1',
      want: 'address-not-allowed: 240.4.0.1 is reserved, and allowedPodCIDRs has no block inside 240.0.0.0/4',
    },
    {
      name: 'a reserved address if a wider block is allowed',
      ip: '240.4.0.1',
      allowed: ['0.0.0.0/0', '128.0.0.0/1'],
      want: 'address-not-allowed: 240.4.0.1 is reserved, and allowedPodCIDRs has no block inside 240.0.0.0/4',
    },
    {
      name: 'a reserved address if another block is allowed',
      ip: '240.4.0.1',
      allowed: ['240.5.0.0/16'],
      want: 'address-not-allowed: 240.4.0.1 is reserved, and allowedPodCIDRs has no block inside 240.0.0.0/4',
    },
    {
      name: 'a reserved address that is allowed and local',
      ip: '240.4.0.1',
      allowed: ['240.0.0.0/4'],
      local: ['240.4.0.0/16'],
      want: 'address-not-allowed: 240.4.0.1 is in 240.4.0.0/16 of the local cluster',
    },
    {
      name: 'an address in a Service range',
      ip: '10.96.0.1',
      services: ['10.96.0.0/16'],
      want: 'address-not-allowed: 10.96.0.1 is in 10.96.0.0/16, a Service range of the local cluster',
    },
    {
      name: 'an address in a Service range where a wider block is allowed',
      ip: '10.96.0.1',
      allowed: ['10.0.0.0/8'],
      services: ['10.96.0.0/16'],
      want: 'address-not-allowed: 10.96.0.1 is in 10.96.0.0/16, a Service range of the local cluster',
    },
  ])('refuses $name', ({ ip, allowed, local = [], services = [], want }) => {
    const refusal = addressRefusal(ip, {
      allowed: allowed?.map(mustParseCidr),
      local: local.map(mustParseCidr),
      services: services.map(mustParseCidr),
    });
    expect(`${refusal?.reason}: ${refusal?.detail}`).toBe(want);
  });
});

describe('addressRefusal with families', () => {
  it.each([
    { name: 'refuses the other family before all else', ip: '10.2.0.1', want: 'other-family' },
    { name: 'takes what is allowed of the family', ip: 'fd00:4::1', want: undefined },
    { name: 'refuses what is not allowed of the family', ip: 'fd00:5::1', want: 'address-not-allowed' },
  ])('$name', ({ ip, want }) => {
    const rules = { families: [6] as const, allowed: PODS.map(mustParseCidr), local: [mustParseCidr('10.2.0.0/16')] };
    expect(addressRefusal(ip, rules)?.reason).toBe(want);
  });
});
