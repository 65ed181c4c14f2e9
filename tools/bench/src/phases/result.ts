import type { ComeBack } from '../wireguard/come-back.ts';
import type { PeerChanges } from '../wireguard/peer-changes.ts';
import type { Scrapes } from '../wireguard/scrapes.ts';
import type { SetUp } from '../wireguard/set-up.ts';
import type { ColdSync } from './cold-sync.ts';
import type { Idle } from './idle.ts';
import type { Propagation } from './propagation.ts';
import type { Restart } from './restart.ts';
import type { Rollout } from './rollout.ts';

/** What was measured of one program. A phase that failed, and those after it, are missing, and so are other apps' phases. */
export type Result = {
  readonly name: string;
  coldSync?: ColdSync;
  restart?: Restart;
  steady?: Propagation;
  burst?: Propagation;
  rollout?: Rollout;
  setUp?: SetUp;
  scrapes?: Scrapes;
  peerChanges?: PeerChanges;
  comeBack?: ComeBack;
  idle?: Idle;
  /** Resident memory, the most in all phases. */
  peakMb?: number;
  /** Why there is no more. */
  failure?: string;
};
