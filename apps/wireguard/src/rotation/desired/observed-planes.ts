import { type Cidr, halvesOf } from '@kube-semaphore/net';
import type { Device, DeviceRoute, Peer, Route } from '@kube-semaphore/wireguard-tools';
import type { DesiredPeer } from '../../mesh/desired/peers.ts';
import { routeProtocol } from '../../names.ts';
import type { Announced, Keys, OwnPlanes, Plane, PlaneDevice, RemotePlanes } from './planes.ts';

/** What `wg`, `ip`, the key files and our own Node show of both planes of a remote. */
export type PlanesObservation = {
  /** The names of the devices, by plane. */
  readonly names: readonly [string, string];
  readonly devices: readonly [Device | undefined, Device | undefined];
  /** All of the node. */
  readonly routes: readonly Route[];
  readonly keys: Keys;
  readonly announced: Announced | undefined;
  /** When the last byte of a peer came, as in `PlanePeer`. */
  readonly heardMs: (device: string, publicKey: string) => number;
};

/** Both planes, and the entry in each that a Node has, by the Node's name. */
export type ObservedPlanes = {
  readonly own: OwnPlanes;
  readonly entries: readonly [ReadonlyMap<string, Peer>, ReadonlyMap<string, Peer>];
};

/**
 * Says what is observed in the words of the decision.
 *
 * @param peers undefined: unknown, and so is whose the entries and routes are
 */
export function observedPlanes(
  observation: PlanesObservation,
  podSubnets: readonly Cidr[],
  peers: readonly DesiredPeer[] = [],
): ObservedPlanes {
  const { names, devices, routes, keys, announced, heardMs } = observation;
  const entries = devices.map((device) => entriesOf(device, peers)) as [Map<string, Peer>, Map<string, Peer>];
  const planeOf = (device: Device | undefined, plane: Plane): PlaneDevice | undefined =>
    device && {
      publicKey: device.publicKey,
      peers: new Map(
        [...entries[plane]].map(([node, { publicKey, keepaliveSeconds, latestHandshakeSeconds }]) => [
          node,
          {
            publicKey,
            keepsAlive: keepaliveSeconds > 0,
            hasHandshake: latestHandshakeSeconds !== undefined,
            heardMs: heardMs(device.name, publicKey),
          },
        ]),
      ),
    };
  const through = new Set(routes.flatMap((route) => (isThrough(names[1], route) ? [route.destination] : [])));
  const routed = peers.flatMap((peer) => {
    const ranges = rangesOf(peer, podSubnets);
    const count = ranges.filter((range) => through.has(range)).length;
    return count === 0 ? [] : [[peer.node, count === ranges.length ? 'all' : 'some'] as const];
  });
  const own = {
    keys,
    devices: [planeOf(devices[0], 0), planeOf(devices[1], 1)] as const,
    routed: new Map(routed),
    subnets: subnetsOf(names, routes, podSubnets),
    announced,
  };
  return { own, entries };
}

/** What the Nodes announce, as far as it matters here. */
export const remotePlanes = (
  peers: readonly DesiredPeer[],
  overdue: readonly string[],
): ReadonlyMap<string, RemotePlanes> =>
  new Map(
    peers.map(({ node, publicKey, endpoint, plane }) => [
      node,
      { publicKey, endpoint, plane: plane ?? 0, knowsPlanes: plane !== undefined, isOverdue: overdue.includes(node) },
    ]),
  );

/**
 * The destinations that lead to one Node alone. A block as wide as a pod subnet is two halves, as the subnet's own route has its
 * destination.
 */
export const rangesOf = (
  { allowedIps }: Pick<DesiredPeer, 'allowedIps'>,
  podSubnets: readonly Cidr[],
): readonly string[] =>
  allowedIps.flatMap((block) => {
    const halves = podSubnets.filter(({ text }) => text === block).flatMap((subnet) => halvesOf(subnet) ?? []);
    return halves.length === 0 ? [block] : halves.map(({ text }) => text);
  });

/** Whether a route is ours, and leads through a device. */
export const isThrough = (device: string, route: Route): route is DeviceRoute =>
  route.protocol === routeProtocol && route.device === device;

/** Routes of others for these destinations. They stay, and these destinations are theirs. */
export const foreignRoutes = (
  { names, routes }: Pick<PlanesObservation, 'names' | 'routes'>,
  destinations: readonly string[],
): readonly Route[] =>
  routes.filter(
    ({ destination, protocol, device }) =>
      destinations.includes(destination) && protocol !== routeProtocol && !names.includes(device ?? ''),
  );

/** Pod subnets whose routes are ours to set. */
export function ownSubnets(
  observation: Pick<PlanesObservation, 'names' | 'routes'>,
  podSubnets: readonly Cidr[],
): readonly string[] {
  const all = podSubnets.map(({ text }) => text);
  const foreign = new Set(foreignRoutes(observation, all).map(({ destination }) => destination));
  return all.filter((destination) => !foreign.has(destination));
}

function subnetsOf(
  names: readonly [string, string],
  routes: readonly Route[],
  podSubnets: readonly Cidr[],
): Plane | undefined {
  const destinations = ownSubnets({ names, routes }, podSubnets);
  const leads = (plane: Plane): boolean =>
    destinations.every((destination) =>
      routes.some((route) => route.destination === destination && isThrough(names[plane], route)),
    );
  if (leads(0)) return 0;
  return leads(1) ? 1 : undefined;
}

/** Who has which entry: the Node with its ranges, or else with its key. Each entry has one Node. */
export function entriesOf(device: Device | undefined, peers: readonly DesiredPeer[]): Map<string, Peer> {
  const byRange = new Map(device?.peers.flatMap((peer) => peer.allowedIps.map((range) => [range, peer] as const)));
  const byKey = new Map(device?.peers.map((peer) => [peer.publicKey, peer]));
  const taken = new Set<Peer>();
  const entries = new Map<string, Peer>();
  for (const { node, publicKey, allowedIps } of peers) {
    const owner = allowedIps.map((range) => byRange.get(range)).find((peer) => peer !== undefined);
    const entry = owner ?? byKey.get(publicKey);
    if (entry === undefined || taken.has(entry)) continue;
    taken.add(entry);
    entries.set(node, entry);
  }
  return entries;
}
