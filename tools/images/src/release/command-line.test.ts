import { expect, it } from 'vitest';
import { readReleaseOptions } from './command-line.ts';

const read = (...args: readonly string[]) => readReleaseOptions(args, { version: '1.2.3' });
const required = ['--registry=r.example/owner', '--homepage=https://example.com/project'];

it('makes archives for all platforms, which are downloaded from the release', () => {
  expect(read(...required)).toEqual({
    registry: 'r.example/owner',
    homepage: 'https://example.com/project',
    downloads: 'https://example.com/project/releases/download/v1.2.3',
    added: undefined,
    platforms: ['linux-amd64', 'linux-arm64', 'windows-amd64', 'darwin'],
    images: false,
    push: false,
  });
});

it('makes what is asked for', () => {
  const more = ['--downloads=http://localhost:1', '--add=dist/others', '--platform=darwin', '--images', '--push'];
  expect(read(...required, ...more)).toMatchObject({
    downloads: 'http://localhost:1',
    added: 'dist/others',
    platforms: ['darwin'],
    images: true,
    push: true,
  });
});

it('knows --help', () => {
  expect(read('--help')).toBeUndefined();
});

it.each([
  { name: 'no registry', args: ['--homepage=https://example.com'], words: '--registry and --homepage are required' },
  { name: 'an unknown flag', args: [...required, '--registrie=x'], words: "'--registrie'" },
  { name: 'an unknown platform', args: [...required, '--platform=plan9'], words: '--platform: there is no plan9' },
])('refuses $name', ({ args, words }) => {
  expect(() => read(...args)).toThrow(words);
});
