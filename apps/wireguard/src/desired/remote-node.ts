import type { Cidr } from '@kube-semaphore/net';

/** What is kept of a remote Node that could be a peer. */
export type RemoteNode = {
  readonly uid: string;
  readonly name: string;
  /** Milliseconds since 1970; 0 if the Node doesn't say. */
  readonly createdMs: number;
  /** As `parsePublicKey` has it. */
  readonly publicKey: string;
  /** As `wg` writes it; undefined for one from before the start: the kernel's stands. */
  readonly endpoint: string | undefined;
  /** Its podCIDRs that lie in a pod subnet, in order; none where Calico's blocks count. */
  readonly podCidrs: readonly Cidr[];
  /** A list lacked it and wasn't believed; or it was a peer when we started, and no list has shown it yet. */
  readonly held?: true;
};
