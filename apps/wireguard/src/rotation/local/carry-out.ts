import type { Logger } from '@kube-semaphore/runtime';
import type { CallOptions, PeerChange } from '@kube-semaphore/wireguard-tools';
import type { RemoteSettings } from '../../config/settings.ts';
import { announcementsOf } from '../../mesh/desired/device.ts';
import { diffDevice } from '../../mesh/desired/diff/device.ts';
import { KEEPALIVE_SECONDS } from '../../mesh/desired/diff/peers.ts';
import type { DesiredPeer } from '../../mesh/desired/peers.ts';
import { applyDevice, createDevice, type DeviceTools } from '../../mesh/local/device.ts';
import { observeDevice, observedOf } from '../../mesh/local/observe.ts';
import { deviceAlias, routeProtocol } from '../../names.ts';
import { annotationPatch } from '../../own-node/desired/own-node.ts';
import type { KnownNode, LocalNode } from '../../own-node/local-node.ts';
import type { Action } from '../desired/actions.ts';
import { foreignRoutes, isThrough, ownSubnets, rangesOf } from '../desired/observed-planes.ts';
import { deviceOfPlane, type TwoDevicesInput } from '../desired/two-devices.ts';
import { commitNextKey, keyPath, type KeyPlace, makeNextKey } from './keys.ts';
import { loosen } from './reverse-path.ts';

/** What actions are carried out on. All but the announcement is of one observation. */
export type Carrier = Omit<TwoDevicesInput, 'node'> & {
  readonly settings: RemoteSettings;
  readonly node: KnownNode;
  readonly place: KeyPlace;
  readonly byNode: ReadonlyMap<string, DesiredPeer>;
  readonly devices: DeviceTools;
  readonly local: Pick<LocalNode, 'announce'>;
  readonly log: Logger;
};

/**
 * Carries out actions of one group. A kill in the middle of it leaves what the next decision continues from.
 *
 * @throws {DeviceError}, {KeyFileError}, {WireGuardToolsError}; KubeApiError and ConnectionError of an announcement
 */
export async function carryOut(
  [action, ...others]: readonly [Action, ...Action[]],
  carrier: Carrier,
  options: CallOptions,
): Promise<void> {
  const { settings, place, observation, devices } = carrier;
  const { tools } = devices;
  const { names } = observation;
  switch (action.kind) {
    case 'create-device':
      return createSecond(action.publicKey, carrier, options);
    case 'delete-device':
      return action.plane === 0 ? renewFirst(carrier, options) : deleteSecond(carrier, options);
    case 'set-peer':
    case 'remove-peer':
    case 'set-keepalive': {
      const peers = [action, ...others].filter(isPeerAction).flatMap((each) => peerChanges(each, carrier));
      return tools.changeDevice(names[action.plane], { peers }, options);
    }
    case 'route-node':
      return routeNode(action.node, carrier, options);
    case 'unroute-node': {
      const ranges = rangesOf(carrier.byNode.get(action.node)!, settings.podSubnets);
      for (const route of observation.routes)
        if (isThrough(names[1], route) && ranges.includes(route.destination)) await tools.deleteRoute(route, options);
      return;
    }
    case 'route-subnets':
      for (const destination of ownSubnets(observation, settings.podSubnets))
        await tools.replaceRoute({ destination, device: names[action.plane], protocol: routeProtocol }, options);
      return;
    case 'announce':
      return announce(action, carrier, options);
    case 'begin':
      return makeNextKey(place);
    case 'commit':
      return commitNextKey(place);
  }
}

/** An action that changes one peer of a device. */
type PeerAction = Extract<Action, { readonly kind: 'set-peer' | 'remove-peer' | 'set-keepalive' }>;

const isPeerAction = (action: Action): action is PeerAction =>
  action.kind === 'set-peer' || action.kind === 'remove-peer' || action.kind === 'set-keepalive';

/**
 * Groups actions that one call carries out: those that follow each other and change other peers of one device. A call takes as
 * long for a thousand peers as for one.
 */
export function groupsOf(actions: readonly Action[]): readonly (readonly [Action, ...Action[]])[] {
  const groups: [Action, ...Action[]][] = [];
  for (const action of actions) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    // `wg` removes peers first, so a call must not change and remove one.
    const isAlike =
      last !== undefined &&
      isPeerAction(last) &&
      isPeerAction(action) &&
      last.plane === action.plane &&
      last.node !== action.node;
    if (isAlike) group!.push(action);
    else groups.push([action]);
  }
  return groups;
}

function peerChanges(action: PeerAction, { byNode, entries }: Carrier): readonly PeerChange[] {
  const { kind, plane, node } = action;
  const entry = entries[plane].get(node);
  if (kind === 'remove-peer') return [{ publicKey: entry!.publicKey, remove: true }];
  if (kind === 'set-keepalive')
    return [{ publicKey: entry!.publicKey, keepaliveSeconds: action.isOn ? KEEPALIVE_SECONDS : 0 }];
  const { publicKey, keepsAlive, endpoint } = action;
  const peer = {
    publicKey,
    allowedIps: byNode.get(node)!.allowedIps,
    keepaliveSeconds: keepsAlive ? KEEPALIVE_SECONDS : 0,
    ...(endpoint !== undefined && { endpoint }),
  };
  return entry === undefined || entry.publicKey === publicKey
    ? [peer]
    : [{ publicKey: entry.publicKey, remove: true }, peer];
}

/** Its key first, as a device without one counts as none; its routes and peers are other actions. */
async function createSecond(publicKey: string, carrier: Carrier, options: CallOptions): Promise<void> {
  const { settings, observation, devices, links, place, looseAddresses } = carrier;
  const { names, keys } = observation;
  const [, name] = names;
  const { mtuBytes } = settings;
  // Another one of ours, or a wireguard-go that waits for us, may be there without a key.
  if (!links.some((link) => link.name === name))
    await createDevice(devices, { name, alias: deviceAlias(settings.name), mtuBytes }, options);
  if (looseAddresses.length > 0) await loosen(devices.tools, name);
  const desired = { ...deviceOfPlane(settings, 1, carrier), publicKey, routes: [], peers: [] };
  const observed = observedOf(name, await observeDevice(devices.tools, name, options));
  const diff = diffDevice(observed, desired, { annotated: new Map(), nowSeconds: 0, staleSeconds: 0 });
  const keyFile = keyPath(place, publicKey === keys.next?.publicKey ? 'next' : 'current');
  await applyDevice(devices.tools, desired, { diff, keyFile }, options);
}

/** A sidecar that ends with its device would be away for a while. */
async function deleteSecond({ observation, devices, links }: Carrier, options: CallOptions): Promise<void> {
  const { tools, startUserspace } = devices;
  const name = observation.names[1];
  if (startUserspace !== undefined || links.find((link) => link.name === name)?.kind !== 'tun')
    return tools.deleteLink(name, options);
  await tools.changeLink(name, { up: false }, options);
  const peers = observation.devices[1]!.peers.map(({ publicKey }) => ({ publicKey, remove: true }) as const);
  await tools.changeDevice(name, { peers }, options);
  // `wg` takes an empty file for no key.
  await tools.changeDevice(name, { privateKeyFile: '/dev/null' }, options);
}

/**
 * Plane 0 gets the key that plane 1 has. Without its entries, it is the same as a new device, and as silent; but it keeps its
 * name and port, its mark and its wireguard-go.
 */
async function renewFirst({ observation, devices: { tools }, place }: Carrier, options: CallOptions): Promise<void> {
  const [name] = observation.names;
  const peers = observation.devices[0]!.peers.map(({ publicKey }) => ({ publicKey, remove: true }) as const);
  if (peers.length > 0) await tools.changeDevice(name, { peers }, options);
  await tools.changeDevice(name, { privateKeyFile: keyPath(place, 'current') }, options);
}

async function routeNode(node: string, carrier: Carrier, options: CallOptions): Promise<void> {
  const { settings, observation, devices } = carrier;
  const device = observation.names[1];
  const ranges = rangesOf(carrier.byNode.get(node)!, settings.podSubnets);
  const foreign = new Set(foreignRoutes(observation, ranges).map(({ destination }) => destination));
  for (const destination of ranges) {
    const route = { destination, device, protocol: routeProtocol };
    // A route of others stays: the Node doesn't follow, and a diagnostic says why.
    if (foreign.has(destination)) continue;
    if (!observation.routes.some((there) => there.destination === destination && isThrough(device, there)))
      await devices.tools.replaceRoute(route, options);
  }
}

/** Key, endpoint and planes in one PATCH: others never see a key on a wrong plane. */
async function announce(
  { publicKey, plane }: Pick<Action & { kind: 'announce' }, 'publicKey' | 'plane'>,
  { settings, node, local, log }: Carrier,
  options: CallOptions,
): Promise<void> {
  const announced = announcementsOf(settings, node, { publicKey, plane });
  const patch = annotationPatch(node.annotations, { announced, withdrawn: [] });
  await local.announce(settings.name, patch, options);
  if (patch !== undefined) log.info({ cluster: settings.name, annotations: patch }, 'announced on our Node');
}
