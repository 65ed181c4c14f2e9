import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type App, bomPath } from '../bundle/bundle.ts';
import { type Bom, type Component, renderBom } from './bom.ts';
import { debianComponents } from './debian.ts';
import { goComponents } from './go.ts';
import { type Builder, exportFiles } from '../builder.ts';

const parts = fileURLToPath(new URL('../../base/parts.Dockerfile', import.meta.url));

/** A built image, with the facts that it doesn't contain. */
export type Image = {
  readonly app: App;
  /** Name of the image, with a digest if it is in a registry. */
  readonly name: string;
  /** Such as `linux/arm64`. */
  readonly platform: string;
  /** The version of its Node.js, if it is known. */
  readonly node: string | undefined;
};

/**
 * Writes the bill of materials of an image: the parts of the app's bundle, Node.js, the packages of its base, and the
 * modules of its Go program if it has one. The bundle must exist.
 *
 * @returns the path of the bill
 * @throws {Error} if the image can't be read
 */
export async function writeImageBom(
  builder: Builder,
  { app, name, platform, node }: Image,
  { root, epoch, registry }: { root: string; epoch: number | undefined; registry: boolean },
): Promise<string> {
  const product = `semaphore-${app}`;
  const bundle = JSON.parse(await readFile(bomPath(root, product), 'utf8')) as Bom;
  const files = await partsOf(builder, { name, platform, registry });
  const components = [...bundle.components, nodeComponent(node), ...files];
  const path = bomPath(root, `${product}-${platform.replaceAll('/', '-')}`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, renderBom({ ...bundle.metadata.component, type: 'container' }, components, { epoch }));
  return path;
}

/** The parts that an image names: os-release, dpkg's state, and the build information of wireguard-go. */
async function partsOf(
  builder: Builder,
  { name, platform, registry }: { name: string; platform: string; registry: boolean },
): Promise<Component[]> {
  const to = await mkdtemp(join(tmpdir(), 'parts-'));
  try {
    await exportFiles(
      builder,
      { file: parts, context: dirname(parts), args: { IMAGE: name }, to, platform: registry ? platform : undefined },
      { registry },
    );
    const read = (file: string): Promise<string> => readFile(join(to, file), 'utf8');
    // dpkg has one file. A base without dpkg has one for each package.
    const states = globSync('*', { cwd: to, exclude: ['os-release', 'wireguard-go', '*.md5sums'] }).toSorted();
    const status = (await Promise.all(states.map(read))).join('\n\n');
    const programs = globSync('wireguard-go', { cwd: to }).map((file) => readFile(join(to, file)));
    return [
      ...debianComponents(await read('os-release'), status),
      ...(await Promise.all(programs)).flatMap(goComponents),
    ];
  } finally {
    await rm(to, { recursive: true });
  }
}

/** Node.js, by its name in advisories. */
export function nodeComponent(version: string | undefined): Component {
  if (version === undefined) return { type: 'platform', name: 'node' };
  return {
    type: 'platform',
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  };
}
