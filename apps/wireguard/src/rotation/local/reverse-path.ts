import type { Link, WireGuardTools } from '@kube-semaphore/wireguard-tools';

/**
 * While keys rotate, packets come by a device that the route back doesn't use. Linux drops them where it checks strictly; and
 * where it checks loosely, too, if they come by a device without an IPv4 address (`no_addr` in __fib_validate_source). So both
 * devices get this address, which is never a source. It stays, as the routes of a device go with its last address; and it says
 * that we loosened the check of a device.
 */
export const LOOSE_ADDRESS = '169.254.115.1';

type FilterTools = Pick<WireGuardTools, 'reversePathFilter' | 'setReversePathFilter'>;

const STRICT = 1;
const LOOSE = 2;

/** Lets a device receive what the route back doesn't use. @throws {WireGuardToolsError} where /proc/sys can't be written */
export async function loosen(tools: FilterTools, device: string): Promise<void> {
  if (await isStrict(tools, device)) await tools.setReversePathFilter(device, LOOSE);
}

/** Undoes it, when keys don't rotate any more: a new device has the default. */
export async function restore(tools: FilterTools, { name: device, addresses }: Link): Promise<void> {
  if (!addresses.some(({ ip }) => ip === LOOSE_ADDRESS)) return;
  if ((await tools.reversePathFilter(device)) === LOOSE)
    await tools.setReversePathFilter(device, await tools.reversePathFilter('default'));
}

/** Whether a device can be loosened if it has to be. Never rejects. */
export async function canLoosen(tools: FilterTools, device: string): Promise<boolean> {
  try {
    if (await isStrict(tools, device)) await tools.setReversePathFilter(device, await tools.reversePathFilter(device));
    return true;
  } catch {
    return false; // the caller says so
  }
}

async function isStrict(tools: FilterTools, device: string): Promise<boolean> {
  const [all, own] = await Promise.all([tools.reversePathFilter('all'), tools.reversePathFilter(device)]);
  return Math.max(all, own) === STRICT;
}
