import type { FaultProxy } from '@kube-semaphore/fault-proxy';
import type { Narrator } from '../narrator.ts';
import type { Backstage } from './backstage.ts';
import type { Mesh } from './mesh.ts';
import type { Shops } from './shops.ts';
import type { Site } from './site.ts';
import type { Workload } from './workload.ts';

/** What scenes play with: two clusters, the apps between them, somebody's workloads, and who tells about it. */
export type Stage = {
  /** Knows which apps run; a scene may replace them. */
  readonly backstage: Backstage;
  readonly c1: Site;
  readonly c2: Site;
  /** By this the apps of c1 reach the API server of c2. */
  readonly line: FaultProxy;
  /** Runs in c2; c1 has a set of it, and a mirror of its Service. */
  readonly checkout: Workload;
  /** Runs in c1; c2 has a set of it. */
  readonly ledger: Workload;
  /** The same app in both clusters; c1 has a global Service of it. */
  readonly shops: Shops;
  /** A node in each cluster, once a scene has built them. */
  readonly mesh: Mesh;
  readonly tell: Narrator;
  /** Called when something that a scene started falls apart later. */
  readonly onFailure: (error: Error) => void;
  /** Aborted when the demo must stop; everything that waits takes it. */
  readonly signal: AbortSignal;
};

/** A part of the demo: it says what happens, does it, waits until it has come true and says how long that took. */
export type Scene = {
  readonly title: string;
  play(stage: Stage): Promise<void>;
};
