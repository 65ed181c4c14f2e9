import type { CallOptions, Device, Link, Route, WireGuardTools } from '@kube-semaphore/wireguard-tools';
import type { ObservedDevice } from '../desired/diff/device.ts';

/** What `wg` and `ip` show of the node. */
export type ObservedNode = { readonly links: readonly Link[]; readonly devices: readonly Device[] };

/** What they show of one device, with all links and routes of the node. */
export type Observation = {
  /** Undefined: there is no such device, or it doesn't speak WireGuard. */
  readonly device: Device | undefined;
  readonly link: Link | undefined;
  readonly links: readonly Link[];
  readonly routes: readonly Route[];
};

export async function observeDevice(tools: WireGuardTools, name: string, options: CallOptions): Promise<Observation> {
  const [device, links, routes] = await Promise.all([
    tools.device(name, options),
    tools.links(options),
    tools.routes(options),
  ]);
  return { device, link: links.find((link) => link.name === name), links, routes };
}

export async function observeNode(tools: WireGuardTools, options: CallOptions): Promise<ObservedNode> {
  const [devices, links] = await Promise.all([tools.devices(options), tools.links(options)]);
  return { devices, links };
}

/** What an observed node has under the name of a device. */
export function deviceOf({ devices, links }: ObservedNode, name: string): Pick<Observation, 'device' | 'link'> {
  return { device: devices.find((device) => device.name === name), link: links.find((link) => link.name === name) };
}

/** An observation for a diff. For a missing device, it is what a new device would show. */
export function observedOf(name: string, { device, link, routes }: Observation): ObservedDevice {
  return {
    device: device ?? { name, publicKey: undefined, listenPort: 0, fwMark: 0, peers: [] },
    link: link ?? {
      name,
      index: 0,
      kind: undefined,
      up: false,
      mtuBytes: 0,
      alias: '',
      addresses: [],
      receiveFrameErrors: undefined,
      receivedBytes: undefined,
      sentBytes: undefined,
    },
    routes,
  };
}

/**
 * How many packets WireGuard refused since the device was created, as their source isn't in the allowed IPs of the peer that
 * sent them. The kernel counts so, and what is no IP packet at all, which no honest peer sends (`dishonest_packet_peer` and
 * `dishonest_packet_type` of drivers/net/wireguard/receive.c). Undefined: wireguard-go doesn't count them.
 */
export const refusedPacketsOf = (link: Link | undefined): number | undefined =>
  link?.kind === 'wireguard' ? link.receiveFrameErrors : undefined;
