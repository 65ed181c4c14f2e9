import type { Metafile } from 'esbuild';
import { type Component, encoded } from './bom.ts';

/** The part of package-lock.json that we read: packages by folder. */
export type Lock = {
  readonly packages: Readonly<
    Record<string, { readonly version?: string; readonly integrity?: string; readonly license?: string }>
  >;
};

/** The folder of a package, and its name. */
const PACKAGE = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/;

/** Sources of our own. */
const OURS = /^(?:apps|packages)\//;

/**
 * The npm packages in a bundle, each once.
 *
 * @throws {Error} if an input isn't ours and isn't in the lock file
 */
export function npmComponents({ outputs }: Metafile, { packages }: Lock): Component[] {
  const found = new Map<string, Component>();
  for (const input of Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs))) {
    if (OURS.test(input)) continue;
    const [folder = '', name = ''] = PACKAGE.exec(input) ?? [];
    const { version, integrity, license } = packages[folder] ?? {};
    if (version === undefined) throw new Error(`${input} is in no package of package-lock.json`);
    const purl = `pkg:npm/${name.split('/').map(encoded).join('/')}@${encoded(version)}`;
    found.set(purl, {
      type: 'library',
      name,
      version,
      purl,
      ...(license !== undefined && {
        licenses: [license.includes(' ') ? { expression: license } : { license: { id: license } }],
      }),
      ...(integrity?.startsWith('sha512-') && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }],
      }),
    });
  }
  return [...found.values()];
}
