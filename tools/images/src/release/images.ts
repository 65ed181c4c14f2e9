import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageName } from '@kube-semaphore/testkit';
import { type Builder, builderWith } from '../builder.ts';
import { apps } from '../bundle/bundle.ts';
import { run } from '../run.ts';
import { digestIn, isLocal } from './registry.ts';

/**
 * Pushes the images that `npm run images` built here into a registry, under the same names.
 *
 * @returns their digests there, by name: `semaphore-policy`
 * @throws {Error} with the end of the builder's output, or if an image isn't built
 */
export async function pushImages({ registry }: { readonly registry: string }): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const app of apps) {
    const image = imageName(app);
    const said = await push(await builderWith(image), image, `${registry}/${image}`);
    digests.set(`semaphore-${app}`, digestIn(said, image));
  }
  return digests;
}

/** @returns a text with the digest */
async function push({ name, command }: Builder, image: string, target: string): Promise<string> {
  if (name === 'docker') {
    await run([...command, 'tag', image, target]);
    return run([...command, 'push', target]);
  }
  // The others print no digest.
  const folder = await mkdtemp(join(tmpdir(), 'digest-'));
  try {
    const file = join(folder, 'digest');
    const plain = isLocal(target) ? ['--tls-verify=false'] : [];
    await run([...command, 'push', '--quiet', `--digestfile=${file}`, ...plain, image, `docker://${target}`]);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true });
  }
}
