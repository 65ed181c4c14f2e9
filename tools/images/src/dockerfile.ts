import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The default image of an argument in an app's Dockerfile: `node:24.21.0-bookworm-slim@sha256:…`.
 *
 * @throws {Error} if it has no such argument
 */
export function pinnedImage(root: string, app: string, argument: 'BASE' | 'NODE' | 'GO'): string {
  const image = new RegExp(`^ARG ${argument}=(.*)$`, 'm').exec(
    readFileSync(join(root, 'apps', app, 'Dockerfile'), 'utf8'),
  )?.[1];
  if (image === undefined) throw new Error(`apps/${app}/Dockerfile has no argument ${argument}`);
  return image;
}

/** The version in the tag of an image, such as `24.21.0`; undefined if the tag doesn't have three numbers. */
export const versionOf = (image: string): string | undefined => /:v?(\d+\.\d+\.\d+)(?=$|[-@])/.exec(image)?.[1];
