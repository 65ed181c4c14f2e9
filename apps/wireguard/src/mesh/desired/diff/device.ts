import { compareText } from '@kube-semaphore/naming';
import { hostCidr } from '@kube-semaphore/net';
import type { Device, Link, LinkAddress, LinkChange, PeerChange, Route } from '@kube-semaphore/wireguard-tools';
import { diffPeers, type EndpointMemory, type PlanedPeer } from './peers.ts';
import { diffRoutes, type RouteChanges } from './routes.ts';

/** The device that a remote should have. */
export type DesiredDevice = {
  readonly name: string;
  /** Our mark. */
  readonly alias: string;
  readonly mtuBytes: number;
  readonly listenPort: number;
  /** Of the private key in our key file. */
  readonly publicKey: string;
  /** Canonical; each gets a prefix of full length. */
  readonly addresses: readonly string[];
  /** Canonical CIDRs to route through it. */
  readonly routes: readonly string[];
  /** Undefined: the remote's Nodes are unknown, so all peers stay as they are. */
  readonly peers: readonly PlanedPeer[] | undefined;
};

/** The device as `wg` and `ip` show it. `routes`: all routes of the node. */
export type ObservedDevice = { readonly device: Device; readonly link: Link; readonly routes: readonly Route[] };

/** The necessary changes. An empty part needs no call. */
export type DeviceDiff = {
  /** The key of the key file has to be set. */
  readonly setsKey: boolean;
  /** Only if it differs: setting a port loses packets, even the same one. */
  readonly listenPort: number | undefined;
  readonly peers: readonly PeerChange[];
  readonly link: LinkChange;
  readonly addresses: { readonly add: readonly LinkAddress[]; readonly delete: readonly LinkAddress[] };
  readonly routes: RouteChanges;
};

/** Compares a device with the desired one. */
export function diffDevice(
  { device, link, routes }: ObservedDevice,
  desired: DesiredDevice,
  memory: EndpointMemory,
): DeviceDiff {
  return {
    setsKey: device.publicKey !== desired.publicKey,
    listenPort: device.listenPort === desired.listenPort ? undefined : desired.listenPort,
    peers: desired.peers === undefined ? [] : diffPeers(device.peers, desired.peers, memory),
    link: {
      ...(link.alias === desired.alias ? {} : { alias: desired.alias }),
      ...(link.mtuBytes === desired.mtuBytes ? {} : { mtuBytes: desired.mtuBytes }),
      ...(link.up ? {} : { up: true }),
    },
    addresses: diffAddresses(link.addresses, desired.addresses),
    routes: diffRoutes(routes, desired.routes, desired.name),
  };
}

/** A diff of peers alone. */
export const peersOnly = (peers: readonly PeerChange[]): DeviceDiff => ({
  setsKey: false,
  listenPort: undefined,
  peers,
  link: {},
  addresses: { add: [], delete: [] },
  routes: { add: [], replace: [], delete: [], blocked: [] },
});

/** Whether nothing has to be done. Blocked routes don't count. */
export function isEmpty({ setsKey, listenPort, peers, link, addresses, routes }: DeviceDiff): boolean {
  const lists = [peers, addresses.add, addresses.delete, routes.add, routes.replace, routes.delete];
  return (
    !setsKey && listenPort === undefined && Object.keys(link).length === 0 && lists.every((list) => list.length === 0)
  );
}

/**
 * Link-local addresses stay: the kernel adds those of IPv6 to some devices; and with its last IPv4 address, which a rotation of keys
 * may have added, a device would lose its routes.
 */
function diffAddresses(observed: readonly LinkAddress[], ips: readonly string[]): DeviceDiff['addresses'] {
  const desired = new Map(
    [...new Set(ips)].toSorted().map((ip) => [
      hostCidr(ip),
      {
        ip,
        prefixLength: ip.includes(':') ? 128 : 32,
        // Only there because Linux drops packets on a device without an address.
        ...(ip.startsWith('169.254.') && ({ isSilent: true } as const)),
      },
    ]),
  );
  const here = new Set(observed.map(textOf));
  return {
    add: [...desired].filter(([text]) => !here.has(text)).map(([, address]) => address),
    delete: observed
      .filter((address) => !desired.has(textOf(address)) && !/^(fe[89ab]|169\.254\.)/.test(address.ip))
      .toSorted((a, b) => compareText(textOf(a), textOf(b))),
  };
}

const textOf = ({ ip, prefixLength }: LinkAddress): string => `${ip}/${prefixLength}`;

/** What a diff changes, as fields of a log line. */
export function summaryOf({ setsKey, listenPort, link, addresses, routes, peers }: DeviceDiff) {
  const removed = peers.filter(({ remove }) => remove === true).length;
  const facts: Readonly<Record<string, unknown>> = {
    key: setsKey,
    listenPort,
    ...link,
    addressesAdded: addresses.add.length,
    addressesDeleted: addresses.delete.length,
    routesAdded: routes.add.length + routes.replace.length,
    routesDeleted: routes.delete.length,
    peersSet: peers.length - removed,
    peersRemoved: removed,
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => Boolean(value)));
}
