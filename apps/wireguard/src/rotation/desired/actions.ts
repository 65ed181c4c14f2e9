import type { Announced, OwnPlanes, Plane } from './planes.ts';

/**
 * One step of a rotation. Each can be the last one before a kill. It has all facts that it was decided by: when it is carried out,
 * what we know may be newer.
 */
export type Action =
  /** Makes a device with a key, without peers and routes. */
  | { readonly kind: 'create-device'; readonly plane: Plane; readonly publicKey: string }
  /** Deletes a device, with its routes. */
  | { readonly kind: 'delete-device'; readonly plane: Plane }
  /** Adds a Node's entry to a device; replaces its former one in the same call. */
  | {
      readonly kind: 'set-peer';
      readonly plane: Plane;
      readonly node: string;
      readonly publicKey: string;
      readonly keepsAlive: boolean;
      /** Without one, the entry waits until the Node speaks first. */
      readonly endpoint?: string | undefined;
    }
  | { readonly kind: 'remove-peer'; readonly plane: Plane; readonly node: string }
  | { readonly kind: 'set-keepalive'; readonly plane: Plane; readonly node: string; readonly isOn: boolean }
  /** Adds routes for all ranges of a Node, which lead through plane 1. */
  | { readonly kind: 'route-node'; readonly node: string }
  /** Deletes them, so that the Node's ranges follow the pod subnets again. */
  | { readonly kind: 'unroute-node'; readonly node: string }
  /** Leads the routes of the pod subnets through a plane; adds them if they are missing. */
  | { readonly kind: 'route-subnets'; readonly plane: Plane }
  /** Writes key and endpoint to our own Node, in one PATCH. */
  | ({ readonly kind: 'announce' } & Announced)
  /** Makes the next key: a file. A rotation begins. */
  | { readonly kind: 'begin' }
  /** The next key becomes the key: a rename. */
  | { readonly kind: 'commit' };

export const setKeepalive = (plane: Plane, node: string, isOn: boolean): Action => ({
  kind: 'set-keepalive',
  plane,
  node,
  isOn,
});

/** Nothing if our Node announces it already. */
export const announce = ({ announced }: OwnPlanes, wanted: Announced): readonly Action[] =>
  announced?.publicKey === wanted.publicKey && announced.plane === wanted.plane
    ? []
    : [{ kind: 'announce', ...wanted }];
