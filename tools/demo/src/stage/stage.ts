import type { Narrator } from '../narrator.ts';
import type { App } from './app.ts';
import type { Site } from './site.ts';
import type { Workload } from './workload.ts';

/** An app that is ready, and what it serves its health and metrics at. */
export type RunningApp = { readonly app: App; readonly url: string };

/** What scenes play with: two clusters, the apps between them, somebody's workloads, and who tells about it. */
export type Stage = {
  readonly c1: Site;
  readonly c2: Site;
  readonly apps: readonly RunningApp[];
  /** Runs in c2; c1 has a set of it. */
  readonly checkout: Workload;
  /** Runs in c1; c2 has a set of it. */
  readonly ledger: Workload;
  readonly tell: Narrator;
  /** Aborted when the demo must stop; everything that waits takes it. */
  readonly signal: AbortSignal;
};

/** A part of the demo: it says what happens, does it, waits until it has come true and says how long that took. */
export type Scene = {
  readonly title: string;
  play(stage: Stage): Promise<void>;
};
