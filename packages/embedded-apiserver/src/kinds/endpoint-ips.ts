import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { invalidValue } from '../http/causes.ts';
import type { Cause } from '../http/status.ts';

const special = new BlockList();
for (const [net, prefix, family] of [
  ['0.0.0.0', 32, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['224.0.0.0', 24, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff02::', 16, 'ipv6'],
] as const) {
  special.addSubnet(net, prefix, family);
}

/** An endpoint's address must not be loopback, link-local or similar. */
export function* endpointIpRules(field: string, address: string): Generator<Cause> {
  if (!isIPv4(address) && !isIPv6(address)) yield invalidValue(field, address, 'must be a valid IP address');
  else if (special.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')) {
    yield invalidValue(field, address, 'may not be unspecified, loopback or link-local');
  }
}
