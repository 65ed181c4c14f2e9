import type { Key } from './planes.ts';

/** When keys are replaced. */
export type Schedule = {
  /** How old a key gets, at most; 0: it is replaced by hand only. */
  readonly everyMs: number;
  /** When a user last asked for a new key; undefined: never. */
  readonly requestedMs: number | undefined;
  /** When this agent first saw that the key rotates. */
  readonly seenMs: number;
};

/** When all keys of a cluster are older than a new period, their nodes rotate within this time, not in one moment. */
const SPREAD_MS = 3_600_000;

/** How the key of a remote's device is replaced: by a second device, so that no packet is lost. */
export type KeyRotation = Pick<Schedule, 'everyMs'> & {
  readonly secondPort: number;
  readonly secondDevice: string;
};

/**
 * When a key is due for a rotation, in milliseconds of Unix time; Infinity: never. By its age, that is between half of the period
 * and all of it. The key itself says when: keys are random, so the nodes of a cluster that started together rotate at different
 * times, and an agent that restarts comes to the same time without a memory.
 */
export function dueMs({ publicKey, writtenMs }: Key, { everyMs, requestedMs, seenMs }: Schedule): number {
  if (requestedMs !== undefined && requestedMs > writtenMs) return requestedMs;
  if (everyMs === 0) return Infinity;
  const fraction = fractionOf(publicKey);
  return Math.max(writtenMs + (everyMs * (1 + fraction)) / 2, seenMs + SPREAD_MS * fraction);
}

/** @returns in [0, 1), the same for the same key */
const fractionOf = (publicKey: string): number => Buffer.from(publicKey, 'base64').readUInt32LE(0) / 2 ** 32;
