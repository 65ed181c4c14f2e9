import type { Device, DeviceChange } from './device.ts';
import type { PrivateKey } from './keys.ts';
import type { Link, LinkAddress, LinkChange } from './link.ts';
import type { DeviceRoute, Route } from './route.ts';
import type { CallOptions } from './run-tool.ts';

/**
 * The node's WireGuard devices, links and routes: what is there, and single changes to it. Each call ends within ten
 * seconds, rejects with a WireGuardToolsError, and changes nothing but what it names. Whether it may be changed is the
 * caller's business: nothing here looks at marks.
 */
export interface WireGuardTools {
  /** All devices that speak WireGuard, the kernel's and wireguard-go's. */
  devices(options: CallOptions): Promise<readonly Device[]>;
  /** One device; undefined if there is none of that name, or it doesn't speak WireGuard. */
  device(name: string, options: CallOptions): Promise<Device | undefined>;
  /** The private key that a device holds; undefined if it has none. For a node whose key file was lost. */
  privateKey(name: string, options: CallOptions): Promise<PrivateKey | undefined>;
  /** All links with their addresses, WireGuard or not. */
  links(options: CallOptions): Promise<readonly Link[]>;
  /** The routes of the main table, IPv4 before IPv6. */
  routes(options: CallOptions): Promise<readonly Route[]>;

  /**
   * Makes a device of the kernel's WireGuard, which is down, and has neither address nor key.
   *
   * @returns `unsupported` if this kernel has no WireGuard, and its module can't be loaded
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
  /** Deletes a link with its routes and addresses; wireguard-go ends when its link goes. None there is fine. */
  deleteLink(name: string, options: CallOptions): Promise<void>;

  /** Gives a link an address. WG_EXISTS if it has it. */
  addAddress(name: string, address: LinkAddress, options: CallOptions): Promise<void>;
  /** Takes an address from a link. None there is fine. */
  deleteAddress(name: string, address: LinkAddress, options: CallOptions): Promise<void>;

  /** Adds a route. WG_EXISTS if there is one with this destination, whoever made it. The device must be up. */
  addRoute(route: DeviceRoute, options: CallOptions): Promise<void>;
  /** Adds a route, or puts it in the place of the one with this destination, **also if that is somebody else's**. */
  replaceRoute(route: DeviceRoute, options: CallOptions): Promise<void>;
  /** Deletes the route with this destination, device and protocol. None there is fine. */
  deleteRoute(route: DeviceRoute, options: CallOptions): Promise<void>;
}
