import { accessSync } from 'node:fs';
import { findBinaries } from '@kube-semaphore/testkit';

/** This machine lacks something that the bench can't do without. */
export class RequirementsError extends Error {
  readonly code = 'REQUIREMENTS';
}

const TUN = '/dev/net/tun';

/** The folders, in which programs are looked for. */
const folders = (): readonly string[] => (process.env['PATH'] ?? '').split(':');

/**
 * @returns wireguard-go's path
 * @throws {RequirementsError} that names all that is missing
 */
export function findRequirements(): string {
  const programs = ['wg', 'ip', 'unshare', 'nsenter', 'bash'].filter(
    (name) => !folders().some((folder) => exists(`${folder}/${name}`)),
  );
  const found = findBinaries(['wireguard-go']);
  const missing = [
    ...(process.getuid?.() === 0 ? [] : ['root']),
    ...(exists(TUN) ? [] : [TUN]),
    ...programs,
    ...(found.ok ? [] : [found.reason]),
  ];
  if (!found.ok || missing.length > 0)
    throw new RequirementsError(`the bench of wireguard needs what isn't here: ${missing.join(', ')}`);
  return found.paths['wireguard-go'];
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false; // which is the answer
  }
}
