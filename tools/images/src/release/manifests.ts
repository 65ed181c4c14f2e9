import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stringify } from 'yaml';
import type { App } from '../bundle/bundle.ts';
import { run } from '../run.ts';

/** Where an image is: `ghcr.io/owner/semaphore-policy`, and which one it is. */
export type Image = { readonly name: string; readonly tag: string; readonly digest?: string | undefined };

/** The manifests of a folder of `deploy/<app>`, in one text, with an image. */
export async function manifestsOf(
  app: App,
  {
    folder,
    image,
    root,
    kubectl,
  }: { readonly folder: string; readonly image: Image; readonly root: string; readonly kubectl: string },
): Promise<string> {
  const overlay = await mkdtemp(join(tmpdir(), 'manifests-'));
  try {
    const { name, tag, digest } = image;
    const which = digest === undefined ? { newTag: tag } : { digest };
    const kustomization = {
      // kustomize accepts no absolute path.
      resources: [relative(overlay, join(root, 'deploy', app, folder))],
      images: [{ name: `semaphore-${app}`, newName: name, ...which }],
    };
    await writeFile(join(overlay, 'kustomization.yaml'), stringify(kustomization));
    return await run([kubectl, 'kustomize', overlay]);
  } finally {
    await rm(overlay, { recursive: true });
  }
}
