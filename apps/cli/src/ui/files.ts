import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { build, Metafile } from 'esbuild';

/** What a browser loads. */
export type PageFiles = { readonly script: string; readonly style: string };

/** Makes the page from its sources. `npm run bundle` replaces this module by one that has the files. */
export async function pageFiles(): Promise<PageFiles> {
  const esbuild = await import('esbuild');
  const folder = fileURLToPath(new URL('page', import.meta.url));
  return (await buildPage(folder, { build: esbuild.build, root: folder })).files;
}

/**
 * Makes the page.
 *
 * @param folder of its sources
 * @param root what the paths in the metafile are relative to
 */
export async function buildPage(
  folder: string,
  { build: bundle, root }: { readonly build: typeof build; readonly root: string },
): Promise<{ readonly files: PageFiles; readonly metafile: Metafile }> {
  const { outputFiles, metafile } = await bundle({
    absWorkingDir: root,
    entryPoints: [join(folder, 'main.tsx'), join(folder, 'page.css')],
    outdir: '.',
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2024',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    metafile: true,
  });
  const textOf = (ending: string): string => outputFiles.find(({ path }) => path.endsWith(ending))!.text;
  return { files: { script: textOf('.js'), style: textOf('.css') }, metafile };
}
