import { type Action, setKeepalive } from './actions.ts';
import { entryOf, type OwnPlanes } from './planes.ts';

/**
 * Moves what we send to a Node to plane 1, when a handshake has proven that it arrives. Then our keepalive on plane 0 ends, by
 * which the other end hears that we have moved.
 */
export function moveToPlane1(own: OwnPlanes, node: string): readonly Action[] {
  const isRouted = own.routed.get(node) === 'all';
  if (!isRouted && entryOf(own, 1, node)?.hasHandshake !== true) return [];
  return [
    ...(isRouted ? [] : [{ kind: 'route-node', node } as const]),
    ...(entryOf(own, 0, node)?.keepsAlive === true ? [setKeepalive(0, node, false)] : []),
  ];
}
