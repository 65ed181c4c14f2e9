import { routeProtocol } from '../names.ts';
import { compareCidrs } from '@kube-semaphore/net';
import type { DeviceRoute, Route } from '@kube-semaphore/wireguard-tools';

/** What makes the routes through a device those that it should have; each list in the order of destinations. */
export type RouteChanges = {
  readonly add: readonly DeviceRoute[];
  /** There without our mark, as the Go program left it; or with it, but through a device that the remote had before. */
  readonly replace: readonly DeviceRoute[];
  readonly delete: readonly DeviceRoute[];
  /** Wanted destinations that somebody else leads elsewhere: theirs, so they stay, and the operator must choose. */
  readonly blocked: readonly Route[];
};

/**
 * Compares the routes of the node with those that are to lead through a device. Routes that aren't marked as ours are
 * left alone, unless they do already what we want.
 *
 * @param destinations canonical CIDRs
 */
export function diffRoutes(observed: readonly Route[], destinations: readonly string[], device: string): RouteChanges {
  const ours = (destination: string): DeviceRoute => ({ destination, device, protocol: routeProtocol });
  const [add, replace, blocked]: [DeviceRoute[], DeviceRoute[], Route[]] = [[], [], []];
  for (const destination of new Set(destinations.toSorted(compareCidrs))) {
    const there = observed.filter((route) => route.destination === destination);
    if (there.some((route) => isOurs(route) && route.device === device)) continue;
    const foreign = there.filter((route) => !isOurs(route) && route.device !== device);
    // With another metric there may be both, and `ip` would replace either.
    if (foreign.length > 0) blocked.push(...foreign);
    else if (there.length > 0) replace.push(ours(destination));
    else add.push(ours(destination));
  }
  const unwanted = observed.filter(
    (route) => isOurs(route) && route.device === device && !destinations.includes(route.destination),
  );
  return {
    add,
    replace,
    delete: [...new Set(unwanted.map(({ destination }) => destination))].toSorted(compareCidrs).map(ours),
    blocked,
  };
}

const isOurs = ({ protocol }: Route): boolean => protocol === routeProtocol;
