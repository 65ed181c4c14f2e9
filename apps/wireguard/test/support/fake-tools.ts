import { readFileSync } from 'node:fs';
import {
  type Device,
  type DeviceChange,
  generatePrivateKey,
  type Link,
  type LinkChange,
  parsePrivateKey,
  type Peer,
  type PrivateKey,
  publicKeyOf,
  type Route,
  WireGuardToolsError,
  type WireGuardTools,
} from '@kube-semaphore/wireguard-tools';
import { observedLink, observedPeer } from './builders.ts';

/** A node's devices, links and routes in memory. */
export class FakeTools implements WireGuardTools {
  readonly byName = new Map<string, Device>();
  readonly linksByName = new Map<string, Link>();
  table: Route[] = [];
  readonly privateKeys = new Map<string, PrivateKey>();
  /** Every change in order: verb, device and arguments. */
  readonly changes: (readonly [verb: string, name: string, what: unknown])[] = [];
  /** Whether the kernel has WireGuard. */
  kernel = true;
  /** Called right before a change; may throw instead of it. */
  beforeChange: (verb: string) => void = () => undefined;

  /** Adds a device, as another program would. @returns its public key */
  put(
    name: string,
    {
      alias = '',
      kind = 'wireguard',
      peers = [] as readonly Peer[],
      listenPort = 51_820,
      key = generatePrivateKey() as PrivateKey | undefined,
    } = {},
  ): string {
    this.linksByName.set(name, observedLink({ name, alias, kind, addresses: [] }));
    this.byName.set(name, { name, publicKey: key && publicKeyOf(key), listenPort, fwMark: 0, peers });
    if (key !== undefined) this.privateKeys.set(name, key);
    return key === undefined ? '' : publicKeyOf(key);
  }

  devices = (): Promise<readonly Device[]> => Promise.resolve([...this.byName.values()]);
  device = (name: string): Promise<Device | undefined> => Promise.resolve(this.byName.get(name));
  privateKey = (name: string): Promise<PrivateKey | undefined> => Promise.resolve(this.privateKeys.get(name));
  links = (): Promise<readonly Link[]> => Promise.resolve([...this.linksByName.values()]);
  routes = (): Promise<readonly Route[]> => Promise.resolve(this.table);
  pathMtu = (): Promise<number> => Promise.resolve(1500);

  async createDevice(
    name: string,
    settings: { readonly alias: string; readonly mtuBytes: number },
  ): Promise<'created' | 'unsupported'> {
    if (!this.kernel) return 'unsupported';
    await this.#change('createDevice', name, settings);
    this.put(name, { alias: settings.alias, listenPort: 0, key: undefined });
    this.linksByName.set(name, { ...this.#link(name), mtuBytes: settings.mtuBytes, up: false });
    return 'created';
  }

  async changeDevice(name: string, change: DeviceChange): Promise<void> {
    await this.#change('changeDevice', name, change);
    const device = this.#device(name);
    const { listenPort = device.listenPort, peers = [] } = change;
    const after = new Map(device.peers.map((peer) => [peer.publicKey, peer]));
    for (const peer of peers) {
      if (peer.remove === true) {
        after.delete(peer.publicKey);
        continue;
      }
      const before =
        after.get(peer.publicKey) ??
        observedPeer(peer.publicKey, {
          endpoint: undefined,
          allowedIps: [],
          keepaliveSeconds: 0,
          latestHandshakeSeconds: undefined,
        });
      const {
        endpoint = before.endpoint,
        allowedIps = before.allowedIps,
        keepaliveSeconds = before.keepaliveSeconds,
      } = peer;
      after.set(peer.publicKey, { ...before, endpoint, allowedIps, keepaliveSeconds });
    }
    const publicKey = change.privateKeyFile === undefined ? device.publicKey : publicKeyIn(change.privateKeyFile);
    this.byName.set(name, { ...device, publicKey, listenPort, peers: [...after.values()] });
  }

  async changeLink(name: string, change: LinkChange): Promise<void> {
    await this.#change('changeLink', name, change);
    this.linksByName.set(name, { ...this.#link(name), ...change });
  }

  async deleteLink(name: string): Promise<void> {
    await this.#change('deleteLink', name, undefined);
    this.byName.delete(name);
    this.linksByName.delete(name);
    this.table = this.table.filter(({ device }) => device !== name);
  }

  /** `rp_filter` by device, and of `all` and `default`; 0 by default. */
  readonly filters = new Map<string, number>();
  /** Whether it can be written. */
  filtersAreLocked = false;

  reversePathFilter = (name: string): Promise<number> => Promise.resolve(this.filters.get(name) ?? 0);

  async setReversePathFilter(name: string, value: number): Promise<void> {
    if (this.filtersAreLocked) throw new WireGuardToolsError('WG_FAILED', 'EROFS');
    await this.#change('setReversePathFilter', name, value);
    this.filters.set(name, value);
  }

  async addAddress(name: string, address: Link['addresses'][number]): Promise<void> {
    await this.#change('addAddress', name, address);
    this.linksByName.set(name, { ...this.#link(name), addresses: [...this.#link(name).addresses, address] });
  }

  async deleteAddress(name: string, address: Link['addresses'][number]): Promise<void> {
    await this.#change('deleteAddress', name, address);
    const addresses = this.#link(name).addresses.filter(({ ip }) => ip !== address.ip);
    this.linksByName.set(name, { ...this.#link(name), addresses });
    // As Linux does, with the last address of IPv4.
    if (!address.ip.includes(':') && !addresses.some(({ ip }) => !ip.includes(':')))
      this.table = this.table.filter(({ device, destination }) => device !== name || destination.includes(':'));
  }

  async addRoute(route: Route & { readonly device: string }): Promise<void> {
    await this.#change('addRoute', route.device, route);
    if (this.table.some(({ destination }) => destination === route.destination))
      throw new WireGuardToolsError('WG_EXISTS', 'File exists');
    this.table = [...this.table, route];
  }

  async replaceRoute(route: Route & { readonly device: string }): Promise<void> {
    await this.#change('replaceRoute', route.device, route);
    this.table = [...this.table.filter(({ destination }) => destination !== route.destination), route];
  }

  async deleteRoute(route: Route & { readonly device: string }): Promise<void> {
    await this.#change('deleteRoute', route.device, route);
    this.table = this.table.filter(
      ({ destination, device }) => destination !== route.destination || device !== route.device,
    );
  }

  async #change(verb: string, name: string, what: unknown): Promise<void> {
    await Promise.resolve();
    this.beforeChange(verb);
    this.changes.push([verb, name, what]);
  }

  #device(name: string): Device {
    const device = this.byName.get(name);
    if (device === undefined) throw new WireGuardToolsError('WG_NO_DEVICE', name);
    return device;
  }

  #link(name: string): Link {
    const link = this.linksByName.get(name);
    if (link === undefined) throw new WireGuardToolsError('WG_NO_DEVICE', name);
    return link;
  }
}

function publicKeyIn(path: string): string {
  const key = parsePrivateKey(readFileSync(path, 'utf8'));
  if (!key.ok) throw new WireGuardToolsError('WG_FAILED', key.reason);
  return publicKeyOf(key.value);
}
