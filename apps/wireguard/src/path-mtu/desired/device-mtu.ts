import type { Cidr } from '@kube-semaphore/net';

/** The kernel's minimum for each family. */
const MIN_MTU = { 4: 576, 6: 1280 };

/** Of WireGuard over IPv6, which is longer than over IPv4: 40 bytes of IPv6, 8 of UDP, 32 of WireGuard. */
export const OVERHEAD_BYTES = 80;

/** What a device has before anything is measured: each path of IPv6 carries as much, and most of IPv4. */
export const FIRST_MTU = 1280;

/** The smallest MTU of a device that carries these subnets. */
export const minMtu = (podSubnets: readonly Pick<Cidr, 'family'>[]): number =>
  MIN_MTU[podSubnets.some(({ family }) => family === 6) ? 6 : 4];

/**
 * The MTU of a device whose packets fit all paths; never below its minimum: then they are sent in pieces.
 *
 * @param paths in bytes
 * @returns undefined without paths
 */
export function deviceMtu(paths: readonly number[], podSubnets: readonly Pick<Cidr, 'family'>[]): number | undefined {
  return paths.length === 0 ? undefined : Math.max(Math.min(...paths) - OVERHEAD_BYTES, minMtu(podSubnets));
}
