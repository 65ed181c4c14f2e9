import { setTimeout as delay } from 'node:timers/promises';
import type { Program } from '../measure/program.ts';
import { usageOf } from '../measure/usage.ts';

/** A time without changes. */
export type Idle = {
  /** In percent of one core. */
  readonly cpuPercent: number;
  /** Resident memory at its end. */
  readonly residentMb: number;
};

/** Lets a program settle, then measures it without changes. */
export async function idle(
  { pid }: Program,
  { settleSeconds, idleSeconds, signal }: { settleSeconds: number; idleSeconds: number; signal: AbortSignal },
): Promise<Idle> {
  await delay(settleSeconds * 1000, undefined, { signal });
  const before = await usageOf(pid);
  await delay(idleSeconds * 1000, undefined, { signal });
  const { cpuSeconds, residentMb } = await usageOf(pid);
  return { cpuPercent: (100 * (cpuSeconds - before.cpuSeconds)) / idleSeconds, residentMb };
}
