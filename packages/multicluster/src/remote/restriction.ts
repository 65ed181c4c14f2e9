import type { Cidr } from '@kube-semaphore/net';
import type { Instruments, Logger, podAddressMetrics } from '@kube-semaphore/runtime';

export type RestrictionOptions = {
  /** The remote's name. */
  readonly cluster: string;
  /** Blocks that its addresses must be in; undefined: anywhere. */
  readonly allowed: readonly Cidr[] | undefined;
  readonly metrics: Pick<Instruments<ReturnType<typeof podAddressMetrics>>, 'remoteUnrestricted'>;
  readonly log: Logger;
};

/** Sets the metric that tells whether a remote may bring in any address, and warns where it may; once per remote. */
export function reportRestriction({ cluster, allowed, metrics, log }: RestrictionOptions): void {
  const isUnrestricted = allowed === undefined;
  metrics.remoteUnrestricted.set({ remote: cluster }, isUnrestricted ? 1 : 0);
  if (isUnrestricted)
    log.warn({ cluster }, 'the remote may bring in any address: set its allowedPodCIDRs (-allowed-pod-cidrs)');
}
