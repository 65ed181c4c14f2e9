import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cacheFolder, type Environment } from '../cache-folder.ts';

/** The type of overlayfs, as statfs(2) has it. */
const OVERLAYFS = 0x79_4c_76_30;

/**
 * The flags by which buildah and podman keep images and containers in a store of ours in the cache, and not in the
 * machine's own: `npm run images` puts images there. Both share it.
 */
export function storeFlags(
  program: 'buildah' | 'podman' = 'podman',
  env: Environment = process.env,
): readonly string[] {
  const folder = join(cacheFolder(env), 'containers');
  const driver = driverFor(folder);
  // What runs is forgotten when the machine starts again.
  const runRoot = join(tmpdir(), 'kube-semaphore-containers', driver);
  const flags = ['--root', join(folder, driver), '--runroot', runRoot, '--storage-driver', driver];
  // By a file below /run podman knows that the machine wasn't started again; a place of a test has a /run of its own.
  return program === 'podman' ? [...flags, '--tmpdir', join(runRoot, 'libpod')] : flags;
}

/** An overlay can't be made on another one, as inside a container; there each image and container is a copy. */
function driverFor(folder: string): 'overlay' | 'vfs' {
  let existing = folder;
  while (!existsSync(existing)) existing = dirname(existing);
  return statfsSync(existing).type === OVERLAYFS ? 'vfs' : 'overlay';
}
