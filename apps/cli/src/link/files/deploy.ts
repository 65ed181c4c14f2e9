import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { UsageError } from '../../usage-error.ts';
import type { Choices } from '../choices.ts';
import { COPIES } from './folder.ts';

/** How the kustomization in `folder` names a part of `deploy/`. @throws {UsageError} if it isn't there */
export function deployOf({ deploy }: Choices, folder: string): (part: string) => string {
  if (deploy === undefined || deploy === false) return (part) => `${COPIES}/${part}`;
  if (deploy.includes('://')) {
    const [url = '', ref] = deploy.split('?');
    return (part) => `${url.replace(/\/+$/, '')}/${part}${ref === undefined ? '' : `?${ref}`}`;
  }
  if (!existsSync(join(deploy, 'service-mirror/base/kustomization.yaml')))
    throw new UsageError(
      `--deploy ${deploy} has no manifests: set it to the folder deploy/ of this project or its URL, or use --no-deploy`,
    );
  // kustomize accepts no absolute path.
  return (part) => relative(resolve(folder), join(resolve(deploy), part));
}
