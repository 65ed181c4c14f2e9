import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { podman } from '@kube-semaphore/testkit';
import { PAUSE_IMAGE } from './node-files.ts';

const run = promisify(execFile);

/** An image that nodes can have. */
export type ImageSource = {
  /** Its name for containerd, with a registry, as kubelets complete what manifests say. */
  readonly name: string;
  /** Other names of the same image. */
  readonly aliases?: readonly string[];
  /** Changes when the image does. */
  readonly digest: () => Promise<string>;
  /** Writes an archive of it. @returns its name there */
  readonly write: (archive: string) => Promise<string>;
};

/** The name that a kubelet makes of one without a registry. */
const completed = (name: string): string => `docker.io/library/${name}`;

/** An image of podman's store, by its complete name there. @param aliases other names by which manifests call it */
export function podmanImage(name: string, aliases: readonly string[] = []): ImageSource {
  return {
    name,
    aliases,
    digest: async () => (await podman(['image', 'inspect', '--format={{.Id}}', name])).trim(),
    write: async (archive) => {
      // This format isn't compressed.
      await podman(['save', '--quiet', '--format=docker-archive', `--output=${archive}`, name]);
      return name;
    },
  };
}

/**
 * An image that `npm run images` built. Manifests call it by the name that it has there.
 *
 * @param aliases other names by which manifests call it
 */
export const builtImage = (name: string, aliases: readonly string[] = []): ImageSource =>
  podmanImage(`localhost/${name}`, [name, ...aliases].map(completed));

export type FileImageOptions = {
  readonly name: string;
  readonly entrypoint: readonly string[];
  /** Files of this machine, by their paths in the image. */
  readonly files: Readonly<Record<string, string>>;
  /** Targets of symbolic links, by their paths in the image. */
  readonly links?: Readonly<Record<string, string>>;
};

/** An image with a few files of this machine in one layer, owned by root. It needs no builder. */
export function fileImage(options: FileImageOptions): ImageSource {
  return {
    name: options.name,
    digest: async () => {
      const times = Object.values(options.files).map(async (file) => (await stat(file)).mtimeMs);
      return sha256(JSON.stringify([options, await Promise.all(times)]));
    },
    write: async (archive) => {
      await writeFiles(archive, options);
      return options.name;
    },
  };
}

/** The image of the container that holds a Pod's namespaces, from Debian's package busybox-static. */
export const pauseImage = (): ImageSource =>
  fileImage({
    name: PAUSE_IMAGE,
    entrypoint: ['/bin/busybox', 'sleep', 'infinity'],
    files: { 'bin/busybox': '/bin/busybox' },
  });

/** As Go calls this machine's processor. */
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');

async function writeFiles(archive: string, { name, entrypoint, files, links = {} }: FileImageOptions): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'image-'));
  try {
    const root = join(dir, 'root');
    for (const [path, file] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await copyFile(file, join(root, path));
    }
    for (const [path, target] of Object.entries(links)) await symlink(target, join(root, path));
    const layer = join(dir, 'layer.tar');
    await run('tar', ['--create', `--file=${layer}`, '--owner=0', '--group=0', '--directory', root, '.']);
    await writeArchive(archive, join(dir, 'image'), { name, entrypoint, layer });
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** Writes an archive as https://github.com/opencontainers/image-spec has it; `layer` is moved into `dir`. */
async function writeArchive(
  archive: string,
  dir: string,
  { name, entrypoint, layer }: { name: string; entrypoint: readonly string[]; layer: string },
): Promise<void> {
  const blobs = join(dir, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  const descriptor = (type: string, bytes: Buffer) => ({
    mediaType: `application/vnd.oci.image.${type}`,
    digest: `sha256:${sha256(bytes)}`,
    size: bytes.length,
  });
  const blob = async (type: string, content: object) => {
    const bytes = Buffer.from(JSON.stringify(content));
    await writeFile(join(blobs, sha256(bytes)), bytes);
    return descriptor(type, bytes);
  };
  const rootfs = descriptor('layer.v1.tar', await readFile(layer));
  await rename(layer, join(blobs, rootfs.digest.slice('sha256:'.length)));
  const config = await blob('config.v1+json', {
    architecture,
    os: 'linux',
    config: { Entrypoint: entrypoint, Env: ['PATH=/bin'] },
    rootfs: { type: 'layers', diff_ids: [rootfs.digest] },
  });
  const manifest = await blob('manifest.v1+json', { schemaVersion: 2, config, layers: [rootfs] });
  const named = { ...manifest, annotations: { 'io.containerd.image.name': name } };
  await writeFile(join(dir, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  await writeFile(join(dir, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [named] }));
  await run('tar', ['--create', `--file=${archive}`, '--directory', dir, 'oci-layout', 'index.json', 'blobs']);
}
