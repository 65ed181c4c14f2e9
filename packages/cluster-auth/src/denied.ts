import { statSync } from 'node:fs';
import { octal } from './writers.ts';

/**
 * What to say of a file that our user may not read, after the reason. Most often that is a Secret of a Pod whose mode was
 * made for root: kubelet gives the files of a volume to the group of `fsGroup`, and lets that read them.
 *
 * @returns one clause with a colon before it; empty for any other error
 */
export function deniedHint(path: string, error: unknown): string {
  if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) return '';
  const us = `we are user ${process.geteuid?.()}; in a Pod securityContext.fsGroup: ${process.getegid?.()} mends it, or defaultMode: 0444 of the volume`;
  try {
    const { mode, uid } = statSync(path);
    return `: its mode is ${octal(mode)} and its owner ${uid}, and ${us}`;
  } catch {
    // Its folder can't be searched either: then the mode is not for us to know.
    return `: ${us}`;
  }
}
