import { rmSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readProviders } from './providers.ts';

const execConfig = { apiVersion: 'client.authentication.k8s.io/v1', command: 'reader', args: null, env: null };

async function fileOf(providers: unknown, mode = 0o644): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'providers-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'providers.json');
  await writeFile(path, JSON.stringify({ providers }));
  await chmod(path, mode);
  return path;
}

const read = async (providers: unknown, mode?: number) => readProviders(await fileOf(providers, mode));

it('reads the file of the upstream example', async () => {
  expect(await read([{ name: 'secretreader', execConfig }])).toMatchObject({
    all: [{ name: 'secretreader', profileSourcedCLIArgsPolicy: 'Ignore', profileSourcedEnvVarsPolicy: 'Ignore' }],
  });
});

it.each([
  { name: 'no plugin', provider: { name: 'a' }, want: 'providers[0].execConfig: ' },
  {
    name: 'no command',
    provider: { name: 'a', execConfig: { ...execConfig, command: '' } },
    want: 'without a command',
  },
  {
    name: 'another version',
    provider: { name: 'a', execConfig: { ...execConfig, apiVersion: 'v2' } },
    want: 'an exec whose apiVersion must be',
  },
  { name: 'another policy', provider: { name: 'a', execConfig, profileSourcedCLIArgsPolicy: 'All' }, want: 'Policy' },
  { name: 'a misspelled field', provider: { name: 'a', execconfig: {} }, want: 'did you mean execConfig?' },
])('refuses $name', async ({ provider, want }) => {
  await expect(read([provider])).rejects.toThrow(want);
});

it('refuses two plugins of one name', async () => {
  const provider = { name: 'a', execConfig };
  await expect(read([provider, provider])).rejects.toThrow('providers: name a is used twice');
});

// A second look at the file would come too late most of the time, not always.
it('reads the mode of what it read, as kubelet may replace the file meanwhile', { repeats: 9 }, async () => {
  const path = await fileOf([{ name: 'secretreader', execConfig }]);
  const reading = readProviders(path);
  rmSync(path);
  expect(await reading).toMatchObject({ all: [{ name: 'secretreader' }] });
});

it('refuses a file that anyone may write', async () => {
  await expect(read([], 0o666)).rejects.toThrow('anyone may write it');
});
