import { parseArgs } from 'node:util';
import { type PlatformName, platformNames } from './platforms.ts';

export type ReleaseOptions = {
  /** Of images and charts: `ghcr.io/owner`. */
  readonly registry: string;
  /** The URL of the folder from which the files are downloaded. */
  readonly downloads: string;
  readonly homepage: string;
  /** A folder of further files, and of files `semaphore-<app>.digest` with the digests of images. */
  readonly added: string | undefined;
  readonly platforms: readonly PlatformName[];
  /** The images of this machine go into the registry, and their digests into the manifests. */
  readonly images: boolean;
  /** The charts go into the registry. */
  readonly push: boolean;
};

/** The output of `--help`. */
export const help = `Usage: npm run release -- --registry REGISTRY --homepage URL [FLAGS]

Makes all files of a release in dist/release: archives of semaphore, its manifest for krew, manifests and charts of the apps,
and SHA256SUMS.

  --registry REGISTRY  of images and charts, such as ghcr.io/owner
  --homepage URL       of the project
  --downloads URL      of the folder of the files; default: that of a release of GitHub
  --add FOLDER         adds its files. Those named semaphore-APP.digest have the digests of the images; default: their tags
  --platform NAME      only this archive: ${platformNames.join(', ')}
  --images             pushes the images that npm run images built, and names their digests
  --push               pushes the charts into REGISTRY/charts, without TLS on localhost, and prints their digests
  --help               print this
`;

/**
 * Reads the arguments, without the two that Node.js adds.
 *
 * @param version of the release
 * @returns undefined for `--help`
 * @throws {Error} if they are wrong
 */
export function readReleaseOptions(
  args: readonly string[],
  { version }: { readonly version: string },
): ReleaseOptions | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      registry: text,
      homepage: text,
      downloads: text,
      add: text,
      platform: { type: 'string', multiple: true },
      images: { type: 'boolean', default: false },
      push: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { registry, homepage, downloads, add: added, platform: named = [], images, push } = values;
  if (values.help) return undefined;
  if (registry === undefined || homepage === undefined) throw new Error('--registry and --homepage are required');
  const unknown = named.filter((name) => !platformNames.some((each) => each === name));
  if (unknown.length > 0)
    throw new Error(`--platform: there is no ${unknown.join(', ')}: only ${platformNames.join(', ')}`);
  return {
    registry,
    homepage,
    downloads: downloads ?? `${homepage}/releases/download/v${version}`,
    added,
    platforms: platformNames.filter((name) => named.length === 0 || named.includes(name)),
    images,
    push,
  };
}
