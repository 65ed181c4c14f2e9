import type { Reevaluation } from '../policy/network-policies.ts';
import type { ComeBack } from '../wireguard/come-back.ts';
import type { PeerChanges } from '../wireguard/peer-changes.ts';
import type { Scrapes } from '../wireguard/scrapes.ts';
import type { SetUp } from '../wireguard/set-up.ts';
import type { ColdSync } from './cold-sync.ts';
import type { Idle } from './idle.ts';
import type { Propagation } from './propagation.ts';
import type { Restart } from './restart.ts';
import type { Rollout } from './rollout.ts';

/** A program of the bench, and its results, one for each round. */
export type Column = { readonly name: string; readonly rounds: readonly Result[] };

/** What one round of a program measured, without the phases of other apps, and those from a failed phase on. */
export type Result = {
  coldSync?: ColdSync;
  restart?: Restart;
  steady?: Propagation;
  burst?: Propagation;
  rollout?: Rollout;
  reevaluation?: Reevaluation;
  setUp?: SetUp;
  scrapes?: Scrapes;
  peerChanges?: PeerChanges;
  comeBack?: ComeBack;
  idle?: Idle;
  /** Peak of the resident memory in all phases. */
  peakMb?: number;
  /** The error that ended the round. */
  failure?: string;
};
