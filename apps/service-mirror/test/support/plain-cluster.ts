import { RoutingStates } from '../../src/endpoints/routing-states.ts';

/** No decision is kept, so each reconcile decides about everything. */
export const noDecisions = { changedSlices: () => undefined, keep: () => {}, forget: () => {} };

/** What a reconcile reads of a local cluster without zones, properties, drained clusters and silent nodes. */
export const plainCluster = () => ({
  zones: { zones: [], haveAllNodes: false },
  properties: { found: new Map() },
  drains: { clusters: new Set<string>() },
  tunnels: { gated: () => new Set<string>() },
  states: new RoutingStates(),
});
