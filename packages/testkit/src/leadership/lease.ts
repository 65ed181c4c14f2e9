/** Where the Leases of tests are. */
export const LEASE_NAMESPACE = 'kube-system';

/** Times, as flags, of a Lease that no test waits for: whoever takes over sooner didn't wait for its end. */
export const longLease: Readonly<Record<string, string>> = { 'lease-duration': '1m', 'renew-deadline': '50s' };

/**
 * Flags, without their hyphen, for replicas that share a Lease which ends soon, so that nobody has to wait for long; and
 * yet not because a busy machine is a few seconds late.
 *
 * @param name of the Lease; what can't be in one is replaced, so that it may be the id of a test
 */
export const shortLease = (name: string): Readonly<Record<string, string>> => ({
  'leader-elect': 'true',
  'lease-name': name.replaceAll(/[^a-z0-9]/g, '-'),
  'lease-namespace': LEASE_NAMESPACE,
  'lease-duration': '8s',
  'renew-deadline': '6s',
  'retry-period': '500ms',
});
