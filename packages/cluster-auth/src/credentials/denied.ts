import { statSync } from 'node:fs';
import { octal } from './writers.ts';

/**
 * A hint for a file that our user may not read, to follow the reason. Most often the file is a Secret in a Pod with a mode
 * for root. With `fsGroup`, kubelet lets that group read the files of a volume.
 *
 * @returns a clause that begins with a colon; empty for other errors
 */
export function deniedHint(path: string, error: unknown): string {
  if (!(error instanceof Error && 'code' in error && error.code === 'EACCES')) return '';
  const fix = `in a Pod, set securityContext.fsGroup: ${process.getegid?.()}, or defaultMode: 0444 for the volume`;
  const us = `we run as user ${process.geteuid?.()}; ${fix}`;
  try {
    const { mode, uid } = statSync(path);
    return `: its mode is ${octal(mode)}, its owner is ${uid}, and ${us}`;
  } catch {
    // We may not search its folder either, so its mode is unknown.
    return `: ${us}`;
  }
}
