import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '@kube-semaphore/testkit';
import { buildImage, type Builder } from './builder.ts';
import { run } from './run.ts';

/** The release of Debian in the Dockerfiles. */
const RELEASE = 'bookworm';

/** Paths that no program in an image reads. Debian's slim images don't have them either. */
const needless = [
  'usr/share/doc',
  'usr/share/man',
  'usr/share/info',
  'usr/share/locale',
  'usr/share/lintian',
  'var/cache/apt',
  'var/lib/apt/lists',
  'var/log',
];

/** Local images that replace those of a registry: values of the arguments BASE and NODE. */
export type LocalImages = { readonly base: string; readonly node: string };

type LocalOptions = {
  /** Of the images, in seconds. */
  readonly epoch: number | undefined;
  readonly say: (what: string) => void;
};

/**
 * Makes a base from Debian's packages, which stays in the cache, and an image that has only the Node.js of the workspace.
 *
 * @throws {Error} with debootstrap's output. It needs root, and Debian's keys to check the packages
 */
export async function buildLocalImages(builder: Builder, { epoch, say }: LocalOptions): Promise<LocalImages> {
  const images = { base: `kube-semaphore-base:${RELEASE}`, node: 'kube-semaphore-node:24' };
  const folder = join(cacheFolder(), 'bases', RELEASE);
  if (!existsSync(join(folder, 'debian.tar'))) {
    say('making a base of Debian’s packages: half a minute, once');
    await bootstrap(folder);
  }
  const base = { tag: images.base, file: dockerfile('debian'), context: folder, epoch };
  await buildImage(builder, base, { registry: false });
  const node = { tag: images.node, file: dockerfile('node'), context: dirname(nodeBinary()), epoch };
  await buildImage(builder, node, { registry: false });
  return images;
}

const dockerfile = (name: string): string => fileURLToPath(new URL(`../base/${name}.Dockerfile`, import.meta.url));

/** The Node.js that npm installed for this machine, and that runs npm scripts. */
function nodeBinary(): string {
  return createRequire(import.meta.url).resolve(`node-linux-${process.arch}/bin/node`);
}

/** Writes the archive completely or not at all. */
async function bootstrap(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(dirname(folder), '.work-'));
  const [root, archive] = [join(work, 'root'), join(work, 'debian.tar')];
  try {
    await run(['debootstrap', '--variant=minbase', '--force-check-gpg', RELEASE, root]);
    for (const path of needless) await empty(join(root, path));
    // debootstrap copies these from its own machine.
    for (const name of ['hostname', 'resolv.conf']) await writeFile(join(root, 'etc', name), '');
    await run([
      'tar',
      '-C',
      root,
      '--numeric-owner',
      '--exclude=./dev/*',
      '--exclude=./proc/*',
      '--exclude=./sys/*',
      '-cf',
      archive,
      '.',
    ]);
    await rename(archive, join(folder, 'debian.tar'));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
}
