import { stringify } from 'yaml';
import { archiveOf, type Platform, type PlatformName, platforms } from './platforms.ts';

/** An archive of the program, with its hash in hex. */
export type Archive = { readonly platform: PlatformName; readonly sha256: string };

/**
 * The manifest with which krew installs `semaphore` as a plugin of kubectl:
 * https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/.
 *
 * @param downloads the URL of the folder of the archives
 */
export function krewManifest(
  archives: readonly Archive[],
  { version, homepage, downloads }: { readonly version: string; readonly homepage: string; readonly downloads: string },
): string {
  return stringify({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'semaphore' },
    spec: {
      version: `v${version}`,
      homepage,
      shortDescription: 'Connect clusters with kube-semaphore',
      description:
        'Links clusters, so that Pods call Services of other clusters, and says what works between them and what does not.\n',
      caveats: 'On macOS, it needs Node.js 24 or later.\n',
      platforms: archives.map(({ platform, sha256 }) => {
        const { os, arch, bin }: Platform = platforms[platform];
        const selector = { matchLabels: { os, ...(arch !== undefined && { arch }) } };
        return { selector, uri: `${downloads}/${archiveOf(platform)}`, sha256, bin };
      }),
    },
  });
}
