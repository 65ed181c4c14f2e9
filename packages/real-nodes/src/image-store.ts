import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, startComponent, Supervision } from '@kube-semaphore/testkit';
import type { ImageSource } from './image-source.ts';
import { containerdConfig } from './node-files.ts';

const run = promisify(execFile);

const DAY_MS = 86_400_000;

/** The files that containerd changes in place. It only adds and removes others, so they can be shared. */
const databases = ['io.containerd.metadata.v1.bolt/meta.db', 'io.containerd.snapshotter.v1.overlayfs/metadata.db'];

/** A folder of containerd with unpacked images, in the cache. Nodes have hard links to its files, as copies take long. */
export class ImageStore {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Finds the store with exactly these images, or makes it. */
  static async open(images: readonly ImageSource[]): Promise<ImageStore> {
    const digests = await Promise.all(
      images.map(async ({ name, aliases = [], digest }) => [name, ...aliases, await digest()].join(' ')),
    );
    const key = createHash('sha256').update(JSON.stringify(digests.toSorted())).digest('hex').slice(0, 12);
    const stores = join(cacheFolder(), 'node-images');
    const folder = join(stores, key);
    await mkdir(stores, { recursive: true });
    if (!(await exists(folder))) await makeOnce(folder, images);
    const now = new Date();
    await utimes(folder, now, now);
    await removeOld(stores);
    return new ImageStore(folder);
  }

  /** Gives a containerd the images, in its folder, which must not exist yet. */
  async copyTo(folder: string): Promise<void> {
    const linked = (await stat(dirname(folder))).dev === (await stat(this.#folder)).dev;
    await run('cp', ['--archive', ...(linked ? ['--link'] : []), this.#folder, folder]);
    for (const database of databases) {
      const [from, to] = [join(this.#folder, database), join(folder, database)];
      await run('cp', ['--archive', '--remove-destination', from, to]);
    }
  }
}

const inTheMaking = new Map<string, Promise<void>>();

/** Clusters that start at the same time wait for the same store. */
async function makeOnce(folder: string, images: readonly ImageSource[]): Promise<void> {
  const made = inTheMaking.get(folder) ?? make(folder, images);
  inTheMaking.set(folder, made);
  await made.finally(() => inTheMaking.delete(folder));
}

/** The folder appears complete or not at all. */
async function make(folder: string, images: readonly ImageSource[]): Promise<void> {
  const unfinished = `${folder}.${randomUUID()}`;
  const supervision = await Supervision.start();
  const { dir } = supervision;
  try {
    const [config, socket] = [join(dir, 'containerd.toml'), join(dir, 'containerd.sock')];
    const places = `root = "${unfinished}"\nstate = "${join(dir, 'state')}"\n[grpc]\n  address = "${socket}"\n`;
    await writeFile(config, containerdConfig({ dir }).replace('version = 2\n', `version = 2\n${places}`));
    const ctr = (...args: readonly string[]) =>
      run('ctr', ['--address', socket, '--namespace', 'k8s.io', ...args]).then(() => true);
    const containerd = await startComponent(
      supervision,
      {
        name: 'containerd',
        // Its mounts end with it.
        file: 'unshare',
        args: ['--mount', 'containerd', '--config', config],
        log: join(dir, 'containerd.log'),
      },
      () => ctr('version'),
    );
    for (const { name, aliases = [], write } of images) {
      const archive = join(dir, 'image.tar');
      const written = await write(archive);
      await ctr('images', 'import', archive);
      for (const other of [name, ...aliases]) if (other !== written) await ctr('images', 'tag', written, other);
      await rm(archive);
    }
    await containerd.kill();
    await rename(unfinished, folder).catch(ignoreExisting);
  } finally {
    await supervision.stop();
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Another process may have made the same store meanwhile. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
}

/** Removes stores that were not opened for a day, and unfinished ones of killed processes. */
async function removeOld(stores: string): Promise<void> {
  for (const name of await readdir(stores)) {
    const folder = join(stores, name);
    // Another process may have removed it meanwhile.
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > DAY_MS) await rm(folder, { recursive: true, force: true });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
