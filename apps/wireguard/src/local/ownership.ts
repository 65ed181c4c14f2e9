import { calicoDevices, deviceName, remoteOfAlias } from '../names.ts';
import type { Device, Link } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from '../config/settings.ts';

/** What `wg` and `ip` show of the node. */
export type NodeDevices = { readonly links: readonly Link[]; readonly devices: readonly Device[] };

/**
 * What the device of a remote is to us, before we touch it.
 *
 * - `absent`: there is none of its name, and we make it.
 * - `ours`: it has our mark.
 * - `adopted`: it has none, but a key that only we can have given it, as the Go program's devices do; or no key at all, as
 *   that of a wireguard-go which was started for us. Mark it.
 * - `awaited`: a wireguard-go seems to be making it right now: a TUN device that doesn't speak WireGuard, or not yet.
 * - `foreign`: somebody else's, or another remote's. `reason` is for the operator.
 */
export type Ownership =
  | { readonly kind: 'absent' | 'ours' | 'adopted' }
  | { readonly kind: 'awaited' | 'foreign'; readonly reason: string };

/** By which a device without our mark is known. */
export type OwnershipRules = {
  /** Public keys that prove it: of our key file, and the one that our Node announces to the remote, as the Go program's key file may have been lost with its container. */
  readonly knownKeys: ReadonlySet<string>;
  /** Whether wireguard-go may carry the tunnels. */
  readonly userspace: 'auto' | 'always' | 'never';
};

/** Tells whether a remote's device may be ours. */
export function ownershipOf(
  { name, device: wanted }: Pick<RemoteSettings, 'name' | 'device'>,
  { links, devices }: NodeDevices,
  { knownKeys, userspace }: OwnershipRules,
): Ownership {
  const link = links.find((candidate) => candidate.name === wanted);
  if (link === undefined) return { kind: 'absent' };
  const marked = remoteOfAlias(link.alias);
  if (marked === name) return { kind: 'ours' };
  if (marked !== undefined) return { kind: 'foreign', reason: `${wanted} leads to ${marked}` };
  const device = devices.find((candidate) => candidate.name === wanted);
  if (device === undefined)
    return {
      kind: link.kind === 'tun' && userspace !== 'never' ? 'awaited' : 'foreign',
      reason: `${wanted} is a device, and no WireGuard`,
    };
  const isKnown = device.publicKey !== undefined && knownKeys.has(device.publicKey);
  const isFresh =
    device.publicKey === undefined && device.peers.length === 0 && link.kind === 'tun' && userspace !== 'never';
  return isKnown || isFresh
    ? { kind: 'adopted' }
    : { kind: 'foreign', reason: `${wanted} has neither our mark nor our key` };
}

/** Devices that no remote of the config has, by name: ours, which go, and those that look like the Go program's, which are told. */
export function orphanDevices(
  { links, devices }: NodeDevices,
  remotes: readonly Pick<RemoteSettings, 'name' | 'device'>[],
): { readonly ours: readonly string[]; readonly unmarked: readonly string[] } {
  const strays = links.filter(
    ({ name, alias }) =>
      !remotes.some((remote) => remote.device === name && (remoteOfAlias(alias) ?? remote.name) === remote.name),
  );
  const [ours, unmarked] = [
    strays.filter(({ alias }) => remoteOfAlias(alias) !== undefined),
    strays.filter(({ alias }) => remoteOfAlias(alias) === undefined),
  ];
  const looksGo = (name: string) =>
    name.startsWith(deviceName('')) && !calicoDevices.includes(name) && devices.some((device) => device.name === name);
  return {
    ours: ours.map(({ name }) => name).toSorted(byText),
    unmarked: unmarked
      .map(({ name }) => name)
      .filter(looksGo)
      .toSorted(byText),
  };
}

/** Ports that another device holds, with that device: two sockets can't have one. */
export function takenPorts(
  { devices }: NodeDevices,
  remotes: readonly Pick<RemoteSettings, 'device' | 'listenPort'>[],
): readonly string[] {
  return remotes.flatMap(({ device, listenPort }) =>
    devices
      .filter((other) => other.listenPort === listenPort && !remotes.some((remote) => remote.device === other.name))
      .map((other) => `port ${listenPort} of ${device} is that of ${other.name}`),
  );
}

/** Devices of ours that hold a port which another remote is to have now; it has to be free before that one asks for it. */
export function displacedDevices(
  { links, devices }: NodeDevices,
  remotes: readonly Pick<RemoteSettings, 'device' | 'listenPort'>[],
): readonly string[] {
  const ours = new Set(links.filter(({ alias }) => remoteOfAlias(alias) !== undefined).map(({ name }) => name));
  return remotes
    .filter(({ device: name, listenPort }) => {
      const held = devices.find((device) => device.name === name)?.listenPort;
      return (
        ours.has(name) &&
        held !== listenPort &&
        remotes.some((other) => other.device !== name && other.listenPort === held)
      );
    })
    .map(({ device }) => device);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
