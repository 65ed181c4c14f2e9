import { setTimeout as delay } from 'node:timers/promises';
import { type Program, within } from '../measure/program.ts';
import { since, type VerbCounts, writesIn } from '../measure/requests.ts';
import { usageOf } from '../measure/usage.ts';
import { type Bench, type Change, whenSeen } from './bench.ts';
import { requestsOf } from './requests-of.ts';

/** A restart of a program, after a single change while it was stopped. */
export type Restart = {
  /** From exec until the change was seen in the local cluster. */
  readonly seconds: number;
  readonly peakMb: number;
  /** Further writes; the present state needs none. */
  readonly otherWrites: number;
  /** All requests to the local cluster, until the program has settled. */
  readonly requests: VerbCounts;
};

/** Makes the change, and starts a program that isn't running. */
export async function restart(
  bench: Bench,
  change: Change,
  { start, account, settleSeconds }: { start: () => Program; account: string; settleSeconds: number },
): Promise<Restart> {
  await change.apply();
  const before = await requestsOf(bench, account);
  const program = start();
  const signal = within(program);
  const seenAtMs = await whenSeen(bench.watch, change, { signal });
  // Needless writes may come later.
  await delay(settleSeconds * 1000, undefined, { signal });
  const { local: now } = await requestsOf(bench, account);
  const requests = since(before.local, now);
  const { peakMb } = await usageOf(program.pid);
  return { seconds: (seenAtMs - program.startedAtMs) / 1000, peakMb, otherWrites: writesIn(requests) - 1, requests };
}
