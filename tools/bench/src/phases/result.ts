import type { ColdSync } from './cold-sync.ts';
import type { Idle } from './idle.ts';
import type { Propagation } from './propagation.ts';
import type { Restart } from './restart.ts';
import type { Rollout } from './rollout.ts';

/** What was measured of one program. A phase that failed, and those after it, are missing. */
export type Result = {
  readonly name: string;
  coldSync?: ColdSync;
  restart?: Restart;
  steady?: Propagation;
  burst?: Propagation;
  rollout?: Rollout;
  idle?: Idle;
  /** Resident memory, the most in all phases. */
  peakMb?: number;
  /** Why there is no more. */
  failure?: string;
};
