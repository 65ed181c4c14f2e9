import type { Link, Peer, Route } from '@kube-semaphore/wireguard-tools';
import { desiredDevice } from '../../mesh/desired/device.ts';
import type { DesiredDevice } from '../../mesh/desired/diff/device.ts';
import { KEEPALIVE_SECONDS, type PlanedPeer } from '../../mesh/desired/diff/peers.ts';
import type { DesiredPeer } from '../../mesh/desired/peers.ts';
import type { DeviceSettings } from '../../mesh/desired/settings.ts';
import type { OwnNode } from '../../own-node/desired/own-node.ts';
import { isThrough, type ObservedPlanes, type PlanesObservation, rangesOf } from './observed-planes.ts';
import type { Plane } from './planes.ts';

/** What both devices are made of. */
export type TwoDevicesInput = ObservedPlanes & {
  readonly observation: PlanesObservation;
  /** The ports, by plane. */
  readonly ports: readonly [number, number];
  readonly node: OwnNode;
  readonly links: readonly Link[];
  /** Undefined: unknown. */
  readonly peers: readonly DesiredPeer[] | undefined;
  /** For both devices. */
  readonly looseAddresses: readonly string[];
};

/**
 * A device as a decision of `nextActions` leaves it: with the key, the entries, the keepalives and the routes that it has, but else
 * as it should be. So only `nextActions` moves a key or a packet to the other plane.
 */
export function deviceOfPlane(settings: DeviceSettings, plane: Plane, input: TwoDevicesInput): DesiredDevice {
  const { observation, ports, node, links, peers, looseAddresses, own, entries } = input;
  const { names, devices, keys, routes } = observation;
  const wanted = plane === 0 ? keys.current : (keys.next ?? keys.current);
  const name = names[plane];
  const isAlone = plane === 0 && devices[1] === undefined;
  const usual = desiredDevice(
    { ...settings, device: name },
    { node, links, publicKey: wanted.publicKey, peers: undefined },
  );
  return {
    ...usual,
    listenPort: ports[plane],
    publicKey: devices[plane]?.publicKey ?? usual.publicKey,
    addresses: [...usual.addresses, ...looseAddresses],
    routes: routesOfPlane(settings, name, { routes, peers, isSubnets: own.subnets === plane || isAlone }),
    peers: peers?.flatMap((peer) => peerOfPlane(peer, entries[plane].get(peer.node), plane)),
  };
}

/** Those that lead through it, unless they are for a Node that is gone. */
function routesOfPlane(
  { podSubnets }: DeviceSettings,
  name: string,
  {
    routes,
    peers,
    isSubnets,
  }: Pick<TwoDevicesInput, 'peers'> & { readonly routes: readonly Route[]; readonly isSubnets: boolean },
): readonly string[] {
  const subnets = podSubnets.map(({ text }) => text);
  const known = new Set([...subnets, ...(peers ?? []).flatMap((peer) => rangesOf(peer, podSubnets))]);
  const through = routes.filter((route) => isThrough(name, route)).map(({ destination }) => destination);
  return [...(isSubnets ? subnets : []), ...through.filter((range) => peers === undefined || known.has(range))];
}

function peerOfPlane(peer: DesiredPeer, entry: Peer | undefined, plane: Plane): readonly PlanedPeer[] {
  if (entry === undefined) return [];
  const { publicKey, keepaliveSeconds } = entry;
  const isAnnounced = publicKey === peer.publicKey && plane === (peer.plane ?? 0);
  return [
    {
      ...peer,
      publicKey,
      endpoint: isAnnounced ? peer.endpoint : undefined,
      keepaliveSeconds: keepaliveSeconds === 0 ? 0 : KEEPALIVE_SECONDS,
    },
  ];
}
