import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { controllers } from '../bundle/bundle.ts';
import { epochOf, originOf } from '../checkout.ts';
import { makeArchive, sha256Of } from './archives.ts';
import { packCharts, pushChart } from './charts.ts';
import type { ReleaseOptions } from './command-line.ts';
import { pushImages } from './images.ts';
import { type Archive, krewManifest } from './krew.ts';
import { manifestsOf } from './manifests.ts';

const DIGEST = /^(semaphore-.*)\.digest$/;

/**
 * Makes all files of a release in a new folder `out`: archives of `semaphore`, its manifest for krew, the manifests and charts
 * of the apps, files of others, and SHA256SUMS.
 *
 * @returns the pushed charts, with their digests
 */
export async function makeRelease(
  { registry, downloads, homepage, added, platforms, images, push }: ReleaseOptions,
  {
    root,
    out,
    helm,
    kubectl,
  }: { readonly root: string; readonly out: string; readonly helm: string; readonly kubectl: string },
): Promise<readonly string[]> {
  const { version } = await originOf(root, undefined);
  const epoch = (await epochOf(root)) ?? 0;
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const digests = new Map([
    ...(images ? await pushImages({ registry }) : []),
    ...(added === undefined ? [] : await addFiles(added, out)),
  ]);

  const archives: Archive[] = [];
  for (const platform of platforms) archives.push(await makeArchive(platform, { root, out, epoch }));
  await writeFile(join(out, 'semaphore.yaml'), krewManifest(archives, { version, homepage, downloads }));
  for (const app of controllers) {
    const image = { name: `${registry}/semaphore-${app}`, tag: version, digest: digests.get(`semaphore-${app}`) };
    for (const [folder, end] of [
      ['base', ''],
      ['remote', '-remote'],
    ] as const)
      await writeFile(
        join(out, `semaphore-${app}${end}.yaml`),
        await manifestsOf(app, { folder, image, root, kubectl }),
      );
  }
  const charts = await packCharts({ root, out, registry, helm });

  const files = (await readdir(out)).toSorted();
  const sums = await Promise.all(files.map(async (file) => `${await sha256Of(join(out, file))}  ${file}\n`));
  await writeFile(join(out, 'SHA256SUMS'), sums.join(''));

  const pushed: string[] = [];
  if (push) for (const file of charts) pushed.push(await pushChart(file, { registry, helm }));
  return pushed;
}

/** Copies the files of a folder, but for the digests of images. @returns these, by the names of the images */
async function addFiles(folder: string, out: string): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const file of await readdir(folder)) {
    const [, image] = DIGEST.exec(file) ?? [];
    if (image === undefined) await copyFile(join(folder, file), join(out, file));
    else digests.set(image, (await readFile(join(folder, file), 'utf8')).trim());
  }
  return digests;
}
