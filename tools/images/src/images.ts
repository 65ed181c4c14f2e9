import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type App, apps, bundle } from './bundle/bundle.ts';
import { findBinaries, imageName } from '@kube-semaphore/testkit';
import { buildLocalImages } from './base.ts';
import { buildImage, type Builder, fetchImage, imageBytes, tidyUp } from './builder.ts';
import { epochOf, originOf } from './checkout.ts';
import { DEBOOTSTRAP, type Ingredients } from './command-line.ts';
import { pinnedImage, versionOf } from './dockerfile.ts';
import { writeImageBom } from './bom/image-bom.ts';
import { bundleBytes, type Sizes } from './sizes.ts';
import { startTimes } from './start-time.ts';

/** The platform of images that are built here. */
const HERE = `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`;

/** What to build, and with which builder. */
export type ImagesOptions = Ingredients & {
  /** The workspace. */
  readonly root: string;
  readonly builder: Builder;
  readonly say: (what: string) => void;
};

/**
 * Builds the images of all apps, writes their bills of materials to `dist/sbom`, and measures them.
 *
 * @throws {Error} with the end of a builder's output
 */
export async function buildImages({
  root,
  base,
  node,
  go,
  source,
  builder,
  say,
}: ImagesOptions): Promise<readonly Sizes[]> {
  const registry = base !== DEBOOTSTRAP;
  const [{ version, revision, source: SOURCE }, epoch] = await Promise.all([originOf(root, source), epochOf(root)]);
  const from = registry ? fromRegistry({ root, base, node, go }) : await withoutRegistry({ root, builder, epoch, say });
  if (registry) await fetchImage(builder, from.BASE);
  const launchers = new Map<App, string>();
  for (const app of apps) {
    const name = imageName(app);
    say(`bundling ${app}, building ${name}`);
    launchers.set(app, await bundle(app, { root, epoch }));
    const args = { ...from, BUNDLE: 'workspace', VERSION: version, REVISION: revision, SOURCE };
    const file = join(root, 'apps', app, 'Dockerfile');
    await buildImage(builder, { tag: name, file, context: root, args, epoch }, { registry });
    const nodeVersion = registry ? versionOf(from.NODE) : process.versions.node;
    await writeImageBom(builder, { app, name, platform: HERE, node: nodeVersion }, { root, epoch, registry: false });
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

/** Arguments of the Dockerfiles. */
type From = { readonly BASE: string; readonly NODE: string; readonly [argument: string]: string };

/** Arguments with the given images, or those of the Dockerfiles. */
function fromRegistry({ root, base, node, go }: Pick<ImagesOptions, 'root' | 'base' | 'node' | 'go'>): From {
  return {
    BASE: base ?? pinnedImage(root, 'policy', 'BASE'),
    NODE: node ?? pinnedImage(root, 'policy', 'NODE'),
    ...(go !== undefined && { GO: go }),
    // Older releases of buildah don't find a stage by the default of an argument.
    WIREGUARD_GO: 'compiler',
  };
}

type LocalFrom = Pick<ImagesOptions, 'root' | 'builder' | 'say'> & { readonly epoch: number | undefined };

/** Arguments for a build that pulls nothing, and compiles nothing in a container. */
async function withoutRegistry({ root, builder, epoch, say }: LocalFrom): Promise<From> {
  const found = findBinaries(['wireguard-go']);
  if (!found.ok) throw new Error(found.reason);
  const folder = join(root, 'dist', 'binaries');
  await mkdir(folder, { recursive: true });
  await copyFile(found.paths['wireguard-go'], join(folder, 'wireguard-go'));
  const { base, node } = await buildLocalImages(builder, { epoch, say });
  return { BASE: base, NODE: node, WIREGUARD_GO: 'binaries' };
}
