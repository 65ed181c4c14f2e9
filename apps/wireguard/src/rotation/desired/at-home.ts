import { type Action, announce, setKeepalive } from './actions.ts';
import { moveToPlane1 } from './move.ts';
import { entryOf, isSilent, type RemotePlanes, type Situation } from './planes.ts';

/**
 * Without a rotation of our own, we announce plane 0, and follow each Node to the plane that it announces. A rotation of our own
 * begins only when plane 1 is gone: until then, other Nodes may use it with our present key. So when our key is due, and only
 * Nodes are left that should have come home long ago, we leave plane 1: else one of them could keep our key for ever.
 */
export function atHome(situation: Situation): readonly Action[] {
  const { own, nodes, clock } = situation;
  const entries = changedEntries(situation);
  if (entries.length > 0) return entries;
  if (own.subnets !== 0) return [{ kind: 'route-subnets', plane: 0 }];
  const isDue = clock.nowMs >= clock.dueMs;
  const leaves = isDue && nodes.every(([, { plane, isOverdue }]) => plane === 0 || isOverdue === true);
  const announcement = announce(own, { publicKey: own.keys.current.publicKey, plane: 0 });
  if (announcement.length > 0) return announcement;
  // The device of plane 1 comes before everything on it, so what follows its creation is decided by the next call.
  if (own.devices[1] === undefined && !leaves && nodes.some(([, { plane }]) => plane === 1))
    return [{ kind: 'create-device', plane: 1, publicKey: own.keys.current.publicKey }];
  const follows = nodes.flatMap(([name, node]) => {
    if (node.plane === 0) return comeHome(situation, name, node);
    return leaves ? leavePlane1(situation, name) : meetOnPlane1(situation, name, node);
  });
  if (follows.length > 0) return follows;
  if (own.devices[1] !== undefined) return own.devices[1].peers.size === 0 ? [{ kind: 'delete-device', plane: 1 }] : [];
  return isDue ? [{ kind: 'begin' }] : [];
}

/**
 * Plane 0 knows what is announced for plane 0. While a Node announces plane 1, its entry in plane 0 stays as it is: the Node still
 * receives there.
 *
 * An entry of a Node with one device is silent while the Node is routed through plane 1: it would take the Node's tunnel away from
 * plane 1 before we send on plane 0.
 */
const changedEntries = ({ own, nodes }: Situation): readonly Action[] =>
  nodes.flatMap(([node, { publicKey, plane, endpoint, knowsPlanes }]): readonly Action[] => {
    if (plane === 1 || entryOf(own, 0, node)?.publicKey === publicKey) return [];
    const keepsAlive = knowsPlanes || !own.routed.has(node);
    return [{ kind: 'set-peer', plane: 0, node, publicKey, keepsAlive, endpoint }];
  });

/** A Node rotates: our plane 1 gets its next key, with our present one. */
function meetOnPlane1({ own }: Situation, node: string, { publicKey, endpoint }: RemotePlanes): readonly Action[] {
  return entryOf(own, 1, node)?.publicKey === publicKey
    ? moveToPlane1(own, node)
    : [{ kind: 'set-peer', plane: 1, node, publicKey, keepsAlive: true, endpoint }];
}

/** A Node that stays on plane 1 still receives on plane 0, unless it is down. */
function leavePlane1({ own }: Situation, node: string): readonly Action[] {
  return [
    ...(entryOf(own, 0, node)?.keepsAlive === false ? [setKeepalive(0, node, true)] : []),
    ...(own.routed.has(node) ? [{ kind: 'unroute-node', node } as const] : []),
    ...(entryOf(own, 1, node) === undefined ? [] : [{ kind: 'remove-peer', plane: 1, node } as const]),
  ];
}

/**
 * Back on plane 0, when a handshake has proven that it arrives: first our route, then our silence on plane 1, by which the other
 * end hears that we have moved, and last the entry, when the other end is silent, too.
 */
function comeHome({ own, clock }: Situation, node: string, { knowsPlanes }: RemotePlanes): readonly Action[] {
  const first = entryOf(own, 0, node);
  const second = entryOf(own, 1, node);
  const isRouted = own.routed.has(node);
  const leave = second?.keepsAlive === true ? [setKeepalive(1, node, false)] : [];
  // It has one table. After a handshake of plane 0, a packet of plane 1 would take its answers back there, where they are lost: even
  // a keepalive, by which WireGuard answers data. So the entry goes first.
  if (isRouted && second !== undefined && !knowsPlanes)
    return [
      { kind: 'remove-peer', plane: 1, node },
      { kind: 'unroute-node', node },
    ];
  const wake = first?.keepsAlive === true ? [] : [setKeepalive(0, node, true)];
  if (isRouted) return first?.hasHandshake === true ? [...wake, { kind: 'unroute-node', node }] : wake;
  if (second === undefined) return wake;
  return [...wake, ...leave, ...(isSilent(second, clock) ? [{ kind: 'remove-peer', plane: 1, node } as const] : [])];
}
