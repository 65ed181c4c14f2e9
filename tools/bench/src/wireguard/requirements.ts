import { accessSync } from 'node:fs';
import { findBinaries } from '@kube-semaphore/testkit';

/** A requirement of the bench is missing on this machine. */
export class RequirementsError extends Error {
  readonly code = 'REQUIREMENTS';
}

const TUN = '/dev/net/tun';

/** The folders of PATH. */
const folders = (): readonly string[] => (process.env['PATH'] ?? '').split(':');

/**
 * @returns wireguard-go's path
 * @throws {RequirementsError} that names all missing requirements
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
    throw new RequirementsError(`missing for the bench of wireguard: ${missing.join(', ')}`);
  return found.paths['wireguard-go'];
}

function exists(path: string): boolean {
  try {
    accessSync(path);
    return true;
  } catch {
    return false; // It doesn't exist.
  }
}
