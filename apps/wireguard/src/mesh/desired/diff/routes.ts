import { routeProtocol } from '../../../names.ts';
import { compareCidrs } from '@kube-semaphore/net';
import type { DeviceRoute, Route } from '@kube-semaphore/wireguard-tools';

/** The changes of routes through a device; each list in the order of destinations. */
export type RouteChanges = {
  readonly add: readonly DeviceRoute[];
  /** Routes without our mark, as the Go program made them; or with it, but through a former device of the remote. */
  readonly replace: readonly DeviceRoute[];
  readonly delete: readonly DeviceRoute[];
  /** Routes of others for desired destinations. They stay; the operator must decide. */
  readonly blocked: readonly Route[];
};

/**
 * Compares the routes of the node with those that a device should have. Routes without our mark stay, unless they have a desired
 * destination and device.
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
    // Routes with different metrics may coexist, and `ip` would replace either.
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
