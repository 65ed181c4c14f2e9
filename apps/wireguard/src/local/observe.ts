import type { CallOptions, Device, Link, Route, WireGuardTools } from '@kube-semaphore/wireguard-tools';
import type { ObservedDevice } from '../desired/diff-device.ts';
import type { NodeDevices } from './ownership.ts';

/** What `wg` and `ip` show of one device, and of what is around it. */
export type Look = {
  /** Undefined: it doesn't speak WireGuard, or isn't there. */
  readonly device: Device | undefined;
  readonly link: Link | undefined;
  /** All of the node, as are the routes. */
  readonly links: readonly Link[];
  readonly routes: readonly Route[];
};

/** Looks at a device. */
export async function observeDevice(tools: WireGuardTools, name: string, options: CallOptions): Promise<Look> {
  const [device, links, routes] = await Promise.all([
    tools.device(name, options),
    tools.links(options),
    tools.routes(options),
  ]);
  return { device, link: links.find((link) => link.name === name), links, routes };
}

/** Looks at all devices of the node. */
export async function observeNode(tools: WireGuardTools, options: CallOptions): Promise<NodeDevices> {
  const [devices, links] = await Promise.all([tools.devices(options), tools.links(options)]);
  return { devices, links };
}

/** What there would be right after the device was made, for one that isn't there. */
export function observedOf(name: string, { device, link, routes }: Look): ObservedDevice {
  return {
    device: device ?? { name, publicKey: undefined, listenPort: 0, fwMark: 0, peers: [] },
    link: link ?? { name, index: 0, kind: undefined, up: false, mtuBytes: 0, alias: '', addresses: [] },
    routes,
  };
}
