import { type Action, announce } from './actions.ts';
import { moveToPlane1 } from './move.ts';
import { entryOf, isSilent, type Situation } from './planes.ts';

/**
 * Our own rotation, from the next key until it becomes the key. Plane 1 has the next key and an entry of every Node before a Node
 * reads of it: a handshake that comes too early isn't answered, and is tried again only after 5 s. Then Nodes move one by one.
 */
export function rotating(situation: Situation): readonly Action[] {
  const { own, nodes } = situation;
  // Without a route, nothing could move.
  if (own.subnets === undefined) return [{ kind: 'route-subnets', plane: 0 }];
  const entries = missingEntries(situation);
  if (entries.length > 0) return entries;
  const announcement = announce(own, { publicKey: own.keys.next!.publicKey, plane: 1 });
  if (announcement.length > 0) return announcement;
  const moves = nodes.flatMap(([node]) => moveToPlane1(own, node));
  if (moves.length > 0) return moves;
  return mayCommit(situation) ? [{ kind: 'commit' }] : [];
}

/**
 * A Node that doesn't rotate itself announces the port of its plane 0. If we sent from our plane 1 to that port, its device
 * would see our next key from two ports later. So it has to speak first, from its own plane 1.
 */
const missingEntries = ({ own, nodes }: Situation): readonly Action[] =>
  nodes.flatMap(([node, { publicKey, plane, endpoint }]): readonly Action[] =>
    entryOf(own, 1, node)?.publicKey === publicKey
      ? []
      : [{ kind: 'set-peer', plane: 1, node, publicKey, keepsAlive: true, ...(plane === 1 && { endpoint }) }],
  );

/**
 * The commit ends plane 0 as Nodes know it, so no Node may send on it any more: it has moved, and is silent there. A Node that
 * is silent there and never came to plane 1 is down, and nothing is lost for it. The others have until the timeout.
 */
function mayCommit({ own, nodes, clock }: Situation): boolean {
  if (clock.nowMs - own.keys.next!.writtenMs >= clock.timeoutMs) return true;
  const waitsForAll = clock.timeoutMs === Infinity;
  return nodes.every(([node]) => {
    const first = entryOf(own, 0, node);
    const hasFollowed = own.routed.get(node) === 'all';
    if (waitsForAll && !hasFollowed) return false;
    if (first === undefined) return true;
    return isSilent(first, clock) && (hasFollowed || entryOf(own, 1, node)?.hasHandshake !== true);
  });
}
