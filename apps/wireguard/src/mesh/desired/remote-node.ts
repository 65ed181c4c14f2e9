import type { Cidr } from '@kube-semaphore/net';

/** A remote Node that could be a peer. */
export type RemoteNode = {
  readonly uid: string;
  readonly name: string;
  /** Unix time in milliseconds; 0 if the Node has no creation time. */
  readonly createdMs: number;
  /** Until when it was Ready, in milliseconds of Unix time; Infinity if it is; 0 if its cluster doesn't say. */
  readonly readyUntilMs: number;
  /** As `parsePublicKey` returns it. */
  readonly publicKey: string;
  /** As `wg` writes it; undefined: it dials out, or is a seeded Node, so the kernel's endpoint stays. */
  readonly endpoint: string | undefined;
  /**
   * On which of its two planes it announces key and endpoint; undefined: it has one device, as Go programs, older releases, and
   * nodes whose keys stay.
   */
  readonly plane?: 0 | 1;
  /** Its podCIDRs in a pod subnet, in order; empty where Calico's blocks are used. */
  readonly podCidrs: readonly Cidr[];
  /** Its deletion is held; or it was a peer at the start, and isn't listed yet. */
  readonly held?: true;
};
