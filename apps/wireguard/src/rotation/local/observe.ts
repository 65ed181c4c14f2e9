import type { CallOptions, Device, Link, Route, WireGuardTools } from '@kube-semaphore/wireguard-tools';

/** What `wg` and `ip` show of both devices of a remote, with all links and routes of the node. */
export type TwoDevices = {
  readonly devices: readonly [Device | undefined, Device | undefined];
  readonly links: readonly Link[];
  readonly routes: readonly Route[];
};

/** The second device without a key counts as none: it is a wireguard-go that waits for us, or was never set up. */
export async function observeBoth(
  tools: WireGuardTools,
  names: readonly [string, string],
  options: CallOptions,
): Promise<TwoDevices> {
  const [first, second, links, routes] = await Promise.all([
    tools.device(names[0], options),
    tools.device(names[1], options),
    tools.links(options),
    tools.routes(options),
  ]);
  return { devices: [first, second?.publicKey === undefined ? undefined : second], links, routes };
}
