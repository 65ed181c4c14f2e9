import type { Cidr } from '@kube-semaphore/net';
import type { Instruments, Logger, podAddressMetrics } from '@kube-semaphore/runtime';

export type RestrictionOptions = {
  /** The remote's name. */
  readonly cluster: string;
  /** CIDRs of its addresses; undefined: any. */
  readonly allowed: readonly Cidr[] | undefined;
  readonly metrics: Pick<Instruments<ReturnType<typeof podAddressMetrics>>, 'remoteUnrestricted'>;
  readonly log: Logger;
};

/** Sets the metric of a remote that may announce any address, and warns of it. */
export function reportRestriction({ cluster, allowed, metrics, log }: RestrictionOptions): void {
  metrics.remoteUnrestricted.set({ remote: cluster }, allowed === undefined ? 1 : 0);
  if (allowed === undefined)
    log.warn({ cluster }, 'remote may announce any address: set its allowedPodCIDRs (-allowed-pod-cidrs)');
}
