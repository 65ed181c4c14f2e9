import type { ColdSync } from './cold-sync.ts';
import type { Propagation } from './propagation.ts';
import type { Rollout } from './rollout.ts';

/** What was measured of one program. A phase that failed, and those after it, are missing. */
export type Result = {
  readonly name: string;
  coldSync?: ColdSync;
  steady?: Propagation;
  burst?: Propagation;
  rollout?: Rollout;
  /** CPU over a time in which nothing happens, in percent of one core. */
  idleCpuPercent?: number;
  /** Resident memory, the most in all phases. */
  peakMb?: number;
  /** Why there is no more. */
  failure?: string;
};
