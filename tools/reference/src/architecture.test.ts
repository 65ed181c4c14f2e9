import { existsSync, globSync, readFileSync } from 'node:fs';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';

/** `file:function` of a step, in a package or in the app of its section. */
const STEP = /`((?:[\w-]+\/)*[\w-]+\.ts):(#?\w+)`/g;

const apps: Readonly<Record<string, string>> = {
  Pod: 'policy',
  NetworkPolicy: 'policy',
  Service: 'service-mirror',
  ServiceExport: 'service-mirror',
  Node: 'wireguard',
};

const steps = Array.from(
  docPage('architecture.md').matchAll(/^## The way of a (\w+)\n([^]*?)(?=^## )/gm),
  ([, what = '', text = '']) => Array.from(text.matchAll(STEP), ([, file = '', name = '']) => ({ what, file, name })),
).flat();

const read = (what: string, file: string): string => {
  const place = [`apps/${apps[what]}/src/${file}`, `packages/${file}`].find((path) => existsSync(path));
  return place === undefined ? '' : readFileSync(place, 'utf8');
};

describe('the ways in docs/architecture.md', () => {
  it.each(steps)('$what: $file has $name', ({ what, file, name }) => {
    expect(read(what, file)).toMatch(new RegExp(`(?:function\\*?|class|async|^ ) ?${name}\\b`, 'm'));
  });

  it('exist for every app', () => {
    expect(new Set(steps.map(({ what }) => what))).toEqual(new Set(Object.keys(apps)));
    // The program `semaphore` only reads.
    const watching = globSync('apps/*/package.json').filter((path) => !path.startsWith('apps/cli/'));
    expect(watching).toHaveLength(new Set(Object.values(apps)).size);
  });
});
