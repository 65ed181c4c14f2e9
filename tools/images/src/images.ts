import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type App, apps, bundle } from '@kube-semaphore/bundle';
import { findBinaries, imageName } from '@kube-semaphore/testkit';
import { buildLocalImages } from './base.ts';
import { buildImage, type Builder, fetchImage, imageBytes, tidyUp } from './builder.ts';
import { originOf } from './checkout.ts';
import { DEBOOTSTRAP, type Ingredients } from './command-line.ts';
import { bundleBytes, type Sizes } from './sizes.ts';
import { startTimes } from './start-time.ts';

/** What to build, and with what. */
export type ImagesOptions = Ingredients & {
  /** The workspace. */
  readonly root: string;
  readonly builder: Builder;
  readonly say: (what: string) => void;
};

/**
 * Builds the images of all apps, and measures them.
 *
 * @throws {Error} with the end of a builder's words
 */
export async function buildImages({ root, base, node, go, source, builder, say }: ImagesOptions): Promise<readonly Sizes[]> {
  const registry = base !== DEBOOTSTRAP;
  // Older buildahs don't find a stage by the default of an argument.
  const from = registry ? { BASE: base, WIREGUARD_GO: 'compiler', ...(node && { NODE: node }), ...(go && { GO: go }) } : await withoutRegistry({ root, builder, say });
  if (registry) await fetchImage(builder, base);
  const { version, revision, source: SOURCE } = await originOf(root, source);
  const launchers = new Map<App, string>();
  for (const app of apps) {
    say(`bundling ${app}, and building ${imageName(app)}`);
    launchers.set(app, await bundle(app, { root }));
    const args = { ...from, BUNDLE: 'workspace', VERSION: version, REVISION: revision, SOURCE };
    await buildImage(builder, { tag: imageName(app), file: join(root, 'apps', app, 'Dockerfile'), context: root, args }, { registry });
  }
  await tidyUp(builder);
  say('measuring');
  const [times, baseBytes] = [await startTimes(launchers), await imageBytes(builder, from.BASE)];
  const sizes: Sizes[] = [];
  for (const app of apps) {
    const [bundled, image] = [await bundleBytes(join(root, 'dist', app)), await imageBytes(builder, imageName(app))];
    sizes.push({ app, bundle: bundled, image, base: baseBytes, startMs: times.get(app) ?? Number.NaN });
  }
  return sizes;
}

/** Arguments of the Dockerfiles with which nothing comes from a registry, nor is compiled in a container. */
async function withoutRegistry({ root, builder, say }: Pick<ImagesOptions, 'root' | 'builder' | 'say'>): Promise<{ readonly BASE: string; readonly [argument: string]: string }> {
  const found = findBinaries(['wireguard-go']);
  if (!found.ok) throw new Error(found.reason);
  const folder = join(root, 'dist', 'binaries');
  await mkdir(folder, { recursive: true });
  await copyFile(found.paths['wireguard-go'], join(folder, 'wireguard-go'));
  const { base, node } = await buildLocalImages(builder, { say });
  return { BASE: base, NODE: node, WIREGUARD_GO: 'binaries' };
}
