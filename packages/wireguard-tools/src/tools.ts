import type { Device, DeviceChange } from './device.ts';
import type { PrivateKey } from './keys.ts';
import type { Link, LinkAddress, LinkChange } from './link.ts';
import type { DeviceRoute, Route } from './route.ts';
import type { CallOptions } from './run-tool.ts';

/**
 * Reads and changes the WireGuard devices, links and routes of the node. Each call ends within ten seconds, rejects with a
 * WireGuardToolsError, and changes only what it names. The caller decides whether it may be changed.
 */
export interface WireGuardTools {
  /** All devices that speak WireGuard, the kernel's and wireguard-go's. */
  devices(options: CallOptions): Promise<readonly Device[]>;
  /** One device; undefined if it doesn't exist, or doesn't speak WireGuard. */
  device(name: string, options: CallOptions): Promise<Device | undefined>;
  /** The private key of a device, for a node whose key file was lost; undefined if it has none. */
  privateKey(name: string, options: CallOptions): Promise<PrivateKey | undefined>;
  /** All links with their addresses, WireGuard or not. */
  links(options: CallOptions): Promise<readonly Link[]>;
  /** The routes of the main table, IPv4 before IPv6. */
  routes(options: CallOptions): Promise<readonly Route[]>;
  /**
   * The MTU of the path to an address, in bytes: what a router has answered in the last minutes, else that of the link.
   *
   * @returns undefined if no route leads there
   */
  pathMtu(ip: string, options: CallOptions): Promise<number | undefined>;

  /**
   * Creates a WireGuard device of the kernel. It is down, and has neither address nor key.
   *
   * @returns `unsupported` if this kernel has no WireGuard, and can't load its module
   * @throws {WireGuardToolsError} WG_EXISTS if the name is taken
   */
  createDevice(
    name: string,
    settings: { readonly alias: string; readonly mtuBytes: number },
    options: CallOptions,
  ): Promise<'created' | 'unsupported'>;
  /** Changes the key, the port and the peers of a device: one `wg set` unless there are thousands of peers. */
  changeDevice(name: string, change: DeviceChange, options: CallOptions): Promise<void>;
  /** Changes alias, MTU and state of a link, in one `ip link set`. */
  changeLink(name: string, change: LinkChange, options: CallOptions): Promise<void>;
  /** Deletes a link with its routes and addresses, if it exists. Its wireguard-go ends. */
  deleteLink(name: string, options: CallOptions): Promise<void>;

  /**
   * How the kernel checks that packets come by the device that leads back to their source (`rp_filter` of IPv4): 0 not at all,
   * 1 strictly, 2 loosely. The greater one of `all` and the device's counts.
   *
   * @param name of a device, or `all`, or `default`, which new devices get
   */
  reversePathFilter(name: string): Promise<number>;
  /** @throws {WireGuardToolsError} WG_FAILED also where /proc/sys can't be written, as in most containers */
  setReversePathFilter(name: string, value: number): Promise<void>;

  /** Adds an address to a link. WG_EXISTS if it has it. */
  addAddress(name: string, address: LinkAddress, options: CallOptions): Promise<void>;
  /** Deletes an address of a link, if it exists. */
  deleteAddress(name: string, address: LinkAddress, options: CallOptions): Promise<void>;

  /** Adds a route. WG_EXISTS if any route has this destination. The device must be up. */
  addRoute(route: DeviceRoute, options: CallOptions): Promise<void>;
  /** Adds a route, or replaces the one with this destination, **even if it is somebody else's**. */
  replaceRoute(route: DeviceRoute, options: CallOptions): Promise<void>;
  /** Deletes the route with this destination, device and protocol, if it exists. */
  deleteRoute(route: DeviceRoute, options: CallOptions): Promise<void>;
}
