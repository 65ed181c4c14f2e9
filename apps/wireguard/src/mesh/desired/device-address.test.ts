import { describe, expect, it } from 'vitest';
import { deviceAddresses } from './device-address.ts';
import { cidr, observedLink } from '../../../test/support/builders.ts';

const dual = [cidr('10.4.0.0/16'), cidr('fd00:4::/48')];
const podCidrs = [cidr('10.2.1.0/24'), cidr('fd00:2:0:1::/64')];
const bridge = observedLink({
  name: 'cni0',
  addresses: [
    { ip: '10.2.1.10', prefixLength: 32 },
    { ip: '10.2.1.9', prefixLength: 24 },
  ],
});
const uplink = observedLink({ name: 'eth0', addresses: [{ ip: '192.0.2.1', prefixLength: 24 }] });

const of = (
  deviceAddress: 'none' | 'auto' | { ip: string },
  { podSubnets = dual, links = [uplink], own = podCidrs } = {},
) => deviceAddresses({ deviceAddress, podSubnets }, { device: 'wireguard.c2', links, podCidrs: own });

describe('deviceAddresses', () => {
  it('are none by default', () => {
    expect(of('none')).toEqual([]);
  });

  it('are the configured one', () => {
    expect(of({ ip: '10.2.1.7' })).toEqual(['10.2.1.7']);
  });

  it('are the node’s lowest address in its podCIDR, or else the first of its podCIDR', () => {
    expect(of('auto', { links: [uplink, bridge] })).toEqual(['10.2.1.9', 'fd00:2:0:1::']);
  });

  it('ignore the device’s own addresses', () => {
    const self = observedLink({ addresses: [{ ip: '10.2.1.7', prefixLength: 32 }] });
    expect(of('auto', { links: [self] })).toEqual(['10.2.1.0', 'fd00:2:0:1::']);
  });

  it('are of the remote’s families only', () => {
    expect(of('auto', { podSubnets: [cidr('fd00:4::/48')] })).toEqual(['fd00:2:0:1::']);
  });

  it('are none of a family without a podCIDR', () => {
    expect(of('auto', { own: [cidr('10.2.1.0/24')] })).toEqual(['10.2.1.0']);
  });
});
