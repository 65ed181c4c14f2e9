/** What one process knows of one remote. */
export type Sighting = {
  /** Whether any member, a labelled Pod with an address, was seen since the process started; once true it stays so. */
  readonly podsSeen: boolean;
  /** How many local sets are ours and name this remote. */
  readonly ownSets: number;
};

/**
 * Whether to change nothing for now: there are sets, but no Pod matches, and none ever did. An empty cluster looks
 * like this, and so does a wrong `-label-domain`, another cluster's kubeconfig, or a restored etcd; taking every
 * address away would be right for the first only. One Pod with an address shows that we look at the right thing:
 * from then on what is gone is gone.
 */
export function isHeldWithoutPods({ podsSeen, ownSets }: Sighting): boolean {
  return !podsSeen && ownSets > 0;
}
