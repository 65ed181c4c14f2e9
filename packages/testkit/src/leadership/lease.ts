/** The namespace of the tests' Leases. */
export const LEASE_NAMESPACE = 'kube-system';

/** Flags for a Lease that no test waits for: a replica that takes over during a test is wrong. */
export const longLease: Readonly<Record<string, string>> = { 'lease-duration': '1h', 'renew-deadline': '50m' };

/**
 * Flags, without their hyphen, for replicas that share a short Lease: short enough for tests, but
 * long enough for a busy machine that is a few seconds late.
 *
 * @param name of the Lease; may be a test's id, because invalid characters are replaced
 */
export const shortLease = (name: string): Readonly<Record<string, string>> => ({
  'leader-elect': 'true',
  'lease-name': name.replaceAll(/[^a-z0-9]/g, '-'),
  'lease-namespace': LEASE_NAMESPACE,
  'lease-duration': '8s',
  'renew-deadline': '6s',
  'retry-period': '500ms',
});
