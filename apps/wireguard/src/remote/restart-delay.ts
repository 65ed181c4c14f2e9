import type { Device } from '@kube-semaphore/wireguard-tools';

/**
 * A node whose tunnels stand loses nothing by waiting, and the agents of all nodes are restarted at about the same time:
 * so that a remote's API server isn't asked for all of its Nodes by all of them at once.
 */
export const RESTART_SPREAD_MS = 5_000;

/**
 * How long to wait before a remote is listed for the first time.
 *
 * @param device of the remote as we start; undefined: none
 * @param isRestart others start at this time, too
 * @returns milliseconds in [0, 5 s), 0 where there is no tunnel yet
 */
export function restartDelayMs(
  device: Pick<Device, 'peers'> | undefined,
  { isRestart, random = Math.random }: { readonly isRestart: boolean; readonly random?: () => number },
): number {
  const stands = device !== undefined && device.peers.length > 0;
  return isRestart && stands ? random() * RESTART_SPREAD_MS : 0;
}
