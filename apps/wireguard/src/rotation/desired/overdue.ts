import type { DesiredPeer } from '../../mesh/desired/peers.ts';

/** By Node: since when it announces plane 1, in milliseconds of a clock that only goes on. */
export type OnPlane1 = ReadonlyMap<string, number>;

export type OnPlane1Input = {
  readonly before: OnPlane1;
  /** Undefined: unknown, so nothing changes. */
  readonly peers: readonly Pick<DesiredPeer, 'node' | 'plane'>[] | undefined;
  /** Whether we have plane 1, too. */
  readonly isThere: boolean;
  readonly nowMs: number;
};

/**
 * Since when each Node announces plane 1. One that announces plane 0 is forgotten only when our plane 1 is gone, which follows soon
 * and lets our own rotation begin: else a hostile Node that goes home for a moment now and then would hold it back for ever.
 */
export const onPlane1 = ({ before, peers, isThere, nowMs }: OnPlane1Input): OnPlane1 =>
  peers === undefined
    ? before
    : new Map(
        peers.flatMap(({ node, plane }): readonly (readonly [string, number])[] => {
          const sinceMs = before.get(node);
          if (plane === 1) return [[node, sinceMs ?? nowMs]];
          return isThere && sinceMs !== undefined ? [[node, sinceMs]] : [];
        }),
      );

/** Nodes that should have come home long ago. */
export const overdueNodes = (
  since: OnPlane1,
  { peers = [], nowMs, timeoutMs }: Pick<OnPlane1Input, 'peers' | 'nowMs'> & { readonly timeoutMs: number },
): readonly string[] =>
  peers.flatMap(({ node, plane }) => (plane === 1 && nowMs - (since.get(node) ?? nowMs) >= timeoutMs ? [node] : []));
