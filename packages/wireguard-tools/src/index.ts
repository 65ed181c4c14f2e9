export type { Device, DeviceChange, Peer, PeerChange } from './device.ts';
export { WireGuardToolsError, type WireGuardToolsCode } from './errors.ts';
export { generatePrivateKey, parsePrivateKey, parsePublicKey, PrivateKey, publicKeyOf } from './keys.ts';
export type { Link, LinkAddress, LinkChange } from './link.ts';
export type { DeviceRoute, Route } from './route.ts';
export { type CallOptions, type RunTool, runTool } from './run-tool.ts';
export { systemTools } from './system-tools.ts';
export type { WireGuardTools } from './tools.ts';
export { startUserspaceDevice, type UserspaceDevice, type UserspaceOptions } from './userspace.ts';
