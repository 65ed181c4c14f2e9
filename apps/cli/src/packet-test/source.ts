import { parseIp } from '@kube-semaphore/net';

/** Where the reasons are explained, and what to do. */
export const ADVICE = 'docs/wireguard.md#what-replaces-the-address-of-a-pod';

/**
 * Why policies would not recognise the caller; null: they would, or nothing is known.
 *
 * @param seen where the call came from, as the other Pod says: anything. Null: it doesn't know
 * @param own the addresses of the calling Pod, in their canonical form
 */
export function sourceFailure(seen: string | null, own: readonly string[]): string | null {
  if (seen === null || own.length === 0) return null;
  const ip = parseIp(seen);
  if (!ip.ok) return `the other Pod doesn't say where it comes from: ${ip.reason}`;
  if (own.includes(ip.value)) return null;
  const expected = own.join(' or ');
  return `arrives from ${ip.value}, not from the Pod's ${expected}: something replaces the address of Pods (${ADVICE})`;
}
