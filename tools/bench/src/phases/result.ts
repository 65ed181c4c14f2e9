import type { ComeBack } from '../wireguard/come-back.ts';
import type { PeerChanges } from '../wireguard/peer-changes.ts';
import type { Scrapes } from '../wireguard/scrapes.ts';
import type { SetUp } from '../wireguard/set-up.ts';
import type { ColdSync } from './cold-sync.ts';
import type { Idle } from './idle.ts';
import type { Propagation } from './propagation.ts';
import type { Restart } from './restart.ts';
import type { Rollout } from './rollout.ts';

/** The measurements of one program, without the phases of other apps, and those from a failed phase on. */
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
  /** Peak of the resident memory in all phases. */
  peakMb?: number;
  /** The error that ended the bench of this program. */
  failure?: string;
};
