import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');

type Package = {
  readonly hasInstallScript?: boolean;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly integrity?: string;
};
type Lock = { readonly packages: Readonly<Record<string, Package>> };
type Manifest = { readonly allowScripts: Readonly<Record<string, boolean>> };

const { packages } = JSON.parse(read('package-lock.json')) as Lock;
const { allowScripts } = JSON.parse(read('package.json')) as Manifest;
const scripted = Object.keys(packages)
  .filter((path) => packages[path]?.hasInstallScript === true)
  .map((path) => path.replace(/^.*node_modules\//, ''));

it('names packages with install scripts in package.json, and does not let them run', () => {
  expect(allowScripts).toEqual(Object.fromEntries(scripted.map((name) => [name, false])));
});

it('lets npm run no install script', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
});

it('takes each package of others from the registry by its SHA-512, and none from another place', () => {
  const others = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && link !== true);
  const loose = others.filter(
    ([, { resolved, integrity = '' }]) => resolved !== undefined || !/^sha512-[\w+/]{86}==$/.test(integrity),
  );
  expect(others.length).toBeGreaterThan(100);
  expect(loose.map(([path]) => path)).toEqual([]);
});
