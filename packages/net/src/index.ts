export { addressAt, containsCidr, overlaps } from './blocks.ts';
export { isPlainlyCanonical } from './canonical.ts';
export { type Cidr, contains, hostCidr, parseCidr } from './cidr.ts';
export { CidrIndex } from './cidr-index.ts';
export { parseHostPort, type HostPort } from './host-port.ts';
export { parseIp } from './ip.ts';
export { compareCidrs, compareIps } from './order.ts';
export { bad, good, type Parsed } from './parsed.ts';
export { isLoopbackHost, isSpecialIp } from './special.ts';
