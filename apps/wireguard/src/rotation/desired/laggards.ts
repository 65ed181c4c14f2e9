import type { DesiredPeer } from '../../mesh/desired/peers.ts';
import type { Keys, OwnPlanes } from './planes.ts';

/** How long a rotation waits for Nodes that are down or don't follow. */
export const TIMEOUT_MS = 600_000;

/** What is seen of a rotation with a remote. */
export type SeenPlanes = {
  readonly keys: Keys;
  readonly own: OwnPlanes;
  /** Undefined: unknown. */
  readonly peers: readonly DesiredPeer[] | undefined;
};

/** Nothing rotates, here or there. */
export const isQuiet = ({ keys, own, peers }: SeenPlanes): boolean =>
  keys.next === undefined &&
  own.devices[0]?.publicKey === keys.current.publicKey &&
  own.devices[1] === undefined &&
  (peers ?? []).every(({ plane }) => plane !== 1);

/** Nodes that our rotation waits for. */
export const notFollowing = ({ keys, own, peers }: SeenPlanes): readonly string[] =>
  keys.next === undefined || own.announced?.plane !== 1
    ? []
    : (peers ?? []).map(({ node }) => node).filter((node) => own.routed.get(node) !== 'all');

/** These, and Nodes that don't end their own rotation. */
export const laggardsOf = (seen: SeenPlanes & { readonly overdue: readonly string[] }): readonly string[] =>
  [...new Set([...notFollowing(seen), ...seen.overdue])].toSorted();
