import type { Device } from '@kube-semaphore/wireguard-tools';

/** The agents of all nodes restart at about the same time. Where tunnels work, they don't list a remote all at once. */
export const RESTART_SPREAD_MS = 5_000;

/**
 * How long to wait before a remote is listed for the first time.
 *
 * @param device of the remote at the start; undefined: it doesn't exist
 * @param isRestart other agents start at this time, too
 * @returns milliseconds in [0, 5 s); 0 if there is no tunnel yet
 */
export function restartDelayMs(
  device: Pick<Device, 'peers'> | undefined,
  { isRestart, random = Math.random }: { readonly isRestart: boolean; readonly random?: () => number },
): number {
  const hasTunnels = device !== undefined && device.peers.length > 0;
  return isRestart && hasTunnels ? random() * RESTART_SPREAD_MS : 0;
}
