import { compareText } from '@kube-semaphore/naming';
import type { Action } from './actions.ts';
import { atHome } from './at-home.ts';
import { rotating } from './rotating.ts';
import type { OwnPlanes, RemotePlanes, RotationClock } from './planes.ts';

/**
 * The next actions for the two planes of a remote, in order. If only some of them are carried out, or Nodes change meanwhile,
 * the next call continues from what it sees: `next-actions.test.ts` walks all interleavings.
 *
 * @param remotes by name; undefined: unknown, so everything that depends on them stays
 * @returns none: there is nothing to do, or we wait for a handshake, a silence or another Node
 */
export function nextActions(
  own: OwnPlanes,
  remotes: ReadonlyMap<string, RemotePlanes> | undefined,
  clock: RotationClock,
): readonly Action[] {
  const devices = deviceActions(own);
  if (devices.length > 0 || remotes === undefined) return devices;
  const gone = goneActions(own, remotes);
  if (gone.length > 0) return gone;
  const situation = { own, nodes: [...remotes].toSorted(([a], [b]) => compareText(a, b)), clock };
  return own.keys.next === undefined ? atHome(situation) : rotating(situation);
}

/**
 * Makes the devices that our keys ask for, and deletes one with another key. After a reboot in the middle of a rotation, both come
 * back with their keys: whichever of them the other Nodes know, it works before the API server does.
 */
function deviceActions(own: OwnPlanes): readonly Action[] {
  const { current, next } = own.keys;
  const [first, second] = own.devices;
  if (first === undefined) return [{ kind: 'create-device', plane: 0, publicKey: current.publicKey }];
  if (next === undefined && first.publicKey !== current.publicKey) return firstDeviceAnew(own);
  const { publicKey } = next ?? current;
  if (second !== undefined) return second.publicKey === publicKey ? [] : [{ kind: 'delete-device', plane: 1 }];
  return next === undefined ? [] : [{ kind: 'create-device', plane: 1, publicKey }];
}

/**
 * After a commit, plane 0 is made anew with the key that plane 1 has, while no Node uses it. The routes of the pod subnets go to
 * plane 1 first: with its device, plane 0 loses its routes, and packets for Nodes that didn't follow would leave unencrypted.
 */
const firstDeviceAnew = ({ devices, subnets }: OwnPlanes): readonly Action[] =>
  devices[1] !== undefined && subnets !== 1
    ? [{ kind: 'route-subnets', plane: 1 }]
    : [{ kind: 'delete-device', plane: 0 }];

/** A Node that left its cluster takes its routes and entries along. Otherwise plane 1 would stay for it. */
function goneActions({ devices, routed }: OwnPlanes, remotes: ReadonlyMap<string, RemotePlanes>): readonly Action[] {
  const isGone = (node: string): boolean => !remotes.has(node);
  return [
    ...[...routed.keys()].filter(isGone).map((node): Action => ({ kind: 'unroute-node', node })),
    ...([0, 1] as const).flatMap((plane) =>
      [...(devices[plane]?.peers.keys() ?? [])]
        .filter(isGone)
        .map((node): Action => ({ kind: 'remove-peer', plane, node })),
    ),
  ];
}
