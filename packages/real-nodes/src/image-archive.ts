import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The image's name in containerd, and its program. */
export type ImageOptions = { readonly name: string; readonly entrypoint: readonly string[] };

/** As Go calls this machine's processor. */
const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

/** Makes the OCI archive of an image with the files of a folder: one layer, owned by root. It needs no builder. */
export async function writeImage(archive: string, folder: string, { name, entrypoint }: ImageOptions): Promise<void> {
  const image = await mkdtemp(join(tmpdir(), 'image-'));
  try {
    const blobs = join(image, 'blobs', 'sha256');
    await mkdir(blobs, { recursive: true });
    const blob = async (data: Buffer | object, type: string) => {
      const bytes = Buffer.isBuffer(data) ? data : Buffer.from(JSON.stringify(data));
      const digest = createHash('sha256').update(bytes).digest('hex');
      await writeFile(join(blobs, digest), bytes);
      return {
        mediaType: `application/vnd.oci.image.${type}`,
        digest: `sha256:${digest}`,
        size: bytes.length,
      };
    };
    const layer = await blob(await tar(join(image, 'layer'), folder), 'layer.v1.tar');
    const config = await blob(
      {
        architecture,
        os: 'linux',
        config: { Entrypoint: entrypoint, Env: ['PATH=/bin'] },
        rootfs: { type: 'layers', diff_ids: [layer.digest] },
      },
      'config.v1+json',
    );
    const manifest = await blob({ schemaVersion: 2, config, layers: [layer] }, 'manifest.v1+json');
    const named = { ...manifest, annotations: { 'io.containerd.image.name': name } };
    await writeFile(join(image, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    await writeFile(join(image, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [named] }));
    await rm(join(image, 'layer'));
    await run('tar', ['--create', `--file=${archive}`, '--directory', image, 'oci-layout', 'index.json', 'blobs']);
  } finally {
    await rm(image, { recursive: true });
  }
}

async function tar(file: string, folder: string): Promise<Buffer> {
  const root = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name', '--mtime=@0'];
  await run('tar', ['--create', `--file=${file}`, ...root, '--directory', folder, '.']);
  return readFile(file);
}
