import { deviceAlias, pubKeyAnnotation } from '../../names.ts';
import type { Diagnostic } from '@kube-semaphore/multicluster';
import type { Link, Route } from '@kube-semaphore/wireguard-tools';
import type { DesiredPeer } from './peers.ts';
import { deviceAddresses } from './device-address.ts';
import { endpointOf } from './endpoint.ts';
import type { DesiredDevice } from './diff/device.ts';
import { problemOf } from './diagnostic.ts';
import { type Announcement, mtuWarning, ownEndpoint, type OwnNode } from '../../own-node/desired/own-node.ts';
import type { DeviceSettings } from './settings.ts';

export type DeviceInput = {
  /** Our own Node. */
  readonly node: OwnNode;
  /** All of the node. */
  readonly links: readonly Link[];
  /** Of the key file. */
  readonly publicKey: string;
  /** Undefined: unknown. */
  readonly peers: readonly DesiredPeer[] | undefined;
};

/** The device that a remote should have. */
export function desiredDevice(settings: DeviceSettings, { node, links, publicKey, peers }: DeviceInput): DesiredDevice {
  const { name, device, mtuBytes, listenPort, podSubnets } = settings;
  return {
    name: device,
    alias: deviceAlias(name),
    mtuBytes,
    listenPort,
    publicKey,
    addresses: deviceAddresses(settings, { device, links, podCidrs: node.podCidrs }),
    routes: podSubnets.map(({ text }) => text),
    peers,
  };
}

/**
 * What we announce to the remote's Nodes; nothing if our Node has no address for them.
 *
 * @param announced `plane`: which of our two planes; undefined: we have one device
 */
export function announcementsOf(
  settings: DeviceSettings,
  node: OwnNode,
  { publicKey, plane }: { readonly publicKey: string; readonly plane?: 0 | 1 | undefined },
): readonly Announcement[] {
  const { name: remote, keyRotation } = settings;
  const own = ownEndpoint(node, settings);
  if (!own.ok) return [];
  if (own.value === 'dial-out') return [{ remote, publicKey }];
  const { ip, port } = own.value;
  const ports = keyRotation === undefined || plane === undefined ? undefined : [port, keyRotation.secondPort];
  const { text: endpoint } = endpointOf(ip, ports?.[plane ?? 0] ?? port);
  return [{ remote, publicKey, endpoint, ...(ports !== undefined && { planes: ports.join(',') }) }];
}

/** The public key that our Node announces to a remote now. */
export const announcedKey = (
  { name }: Pick<DeviceSettings, 'name'>,
  annotations: Readonly<Record<string, string>>,
): string | undefined => annotations[pubKeyAnnotation(name)];

/** What keeps a device from working as it should. */
export function deviceDiagnostics(
  settings: DeviceSettings,
  {
    node,
    links,
    blocked,
  }: Pick<DeviceInput, 'node' | 'links'> & {
    readonly blocked: readonly (Pick<Route, 'destination'> & Partial<Route>)[];
  },
): readonly Diagnostic[] {
  const endpoint = ownEndpoint(node, settings);
  const mtu = endpoint.ok && endpoint.value !== 'dial-out' ? mtuWarning(endpoint.value.ip, links, settings) : undefined;
  return [
    ...problemOf('no-endpoint', endpoint.ok ? [] : [`the remote can't reach this node: ${endpoint.reason}`]),
    // Only a hint, as short packets pass.
    ...(mtu === undefined ? [] : [{ kind: 'expected', reason: 'mtu', detail: mtu } as const]),
    ...problemOf('route-blocked', blocked.map(blockedRoute(settings.device))),
  ];
}

const blockedRoute =
  (wanted: string) =>
  ({ destination, device }: Pick<Route, 'destination'> & Partial<Route>): string => {
    const actual = device === undefined ? 'there is another route' : `it is routed through ${device}`;
    return `${destination} is not routed through ${wanted}: ${actual}`;
  };
