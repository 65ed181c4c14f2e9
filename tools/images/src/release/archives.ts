import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bom, renderBom } from '../bom/bom.ts';
import { nodeComponent } from '../bom/image-bom.ts';
import { bomPath, bundle } from '../bundle/bundle.ts';
import { lockedNode, makeExecutable, type Target } from '../executable/executable.ts';
import { run } from '../run.ts';
import type { Archive } from './krew.ts';
import { archiveOf, type Platform, type PlatformName, platforms } from './platforms.ts';

/**
 * Makes the archive of `semaphore` for a platform in the folder `out`, and its bill of materials. The same program makes the
 * same bytes.
 */
export async function makeArchive(
  platform: PlatformName,
  { root, out, epoch }: { readonly root: string; readonly out: string; readonly epoch: number },
): Promise<Archive> {
  const { node, bin }: Platform = platforms[platform];
  const program = node === undefined ? await bundle('cli', { root, epoch }) : await makeExecutable(node, { root });
  const folder = await mkdtemp(join(tmpdir(), 'archive-'));
  try {
    await copyFile(program, join(folder, bin));
    await chmod(join(folder, bin), 0o755);
    await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    const owner = [`--mtime=@${epoch}`, '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
    const file = join(out, archiveOf(platform));
    await run([
      'tar',
      '--create',
      ...owner,
      '--use-compress-program=gzip --no-name',
      `--file=${file}`,
      `--directory=${folder}`,
      'LICENSE',
      bin,
    ]);
    await writeFile(join(out, `semaphore-${platform}.cdx.json`), await bomOf(node, { root, epoch }));
    return { platform, sha256: await sha256Of(file) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The parts of the bundle, and Node.js if it is inside. */
async function bomOf(
  node: Target | undefined,
  { root, epoch }: { readonly root: string; readonly epoch: number },
): Promise<string> {
  const { metadata, components } = JSON.parse(await readFile(bomPath(root, 'semaphore-cli'), 'utf8')) as Bom;
  const inside = node === undefined ? [] : [nodeComponent((await lockedNode(node, root)).version)];
  return renderBom(metadata.component, [...components, ...inside], { epoch });
}

/** In hex. */
export const sha256Of = async (file: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
