import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { krewManifest } from './krew.ts';

it('names an archive and its hash for each platform', () => {
  const archives = [
    { platform: 'linux-arm64', sha256: '0a' },
    { platform: 'windows-amd64', sha256: '0b' },
    { platform: 'darwin', sha256: '0c' },
  ] as const;
  const downloads = 'https://example.com/files';
  const text = krewManifest(archives, { version: '1.2.3', homepage: 'https://example.com', downloads });
  expect(parse(text)).toMatchObject({
    metadata: { name: 'semaphore' },
    spec: {
      version: 'v1.2.3',
      homepage: 'https://example.com',
      platforms: [
        {
          selector: { matchLabels: { os: 'linux', arch: 'arm64' } },
          uri: 'https://example.com/files/semaphore-linux-arm64.tar.gz',
          sha256: '0a',
          bin: 'semaphore',
        },
        {
          selector: { matchLabels: { os: 'windows', arch: 'amd64' } },
          uri: 'https://example.com/files/semaphore-windows-amd64.tar.gz',
          sha256: '0b',
          bin: 'semaphore.exe',
        },
        {
          selector: { matchLabels: { os: 'darwin' } },
          uri: 'https://example.com/files/semaphore-darwin.tar.gz',
          sha256: '0c',
          bin: 'semaphore',
        },
      ],
    },
  });
});
