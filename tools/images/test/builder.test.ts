import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { buildImage, exportFiles, fetchImage, findBuilder, imageBytes } from '../src/builder.ts';

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'builder-'));
  vi.stubEnv('PATH', dir);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
});

/** Installs a program that records each command line, then runs `does`. */
const install = (name: string, does = ''): Promise<void> =>
  writeFile(join(dir, name), `#!/bin/sh\necho "\${0##*/} $*" >> ${dir}/calls\n${does}\n`, { mode: 0o755 });

/** The command lines, without the flags of the store. */
const calls = async (): Promise<readonly string[]> =>
  (await readFile(join(dir, 'calls'), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/ --root .* --storage-driver \w+( --tmpdir \S+)?/, ''));

const image = { tag: 'semaphore-policy:1', file: 'apps/policy/Dockerfile', context: '.', args: { BASE: 'debian' } };

it.each([
  { name: 'docker, if all are installed', there: ['docker', 'buildah', 'podman'], want: 'docker' },
  { name: 'buildah, if docker has no daemon', there: ['docker: exit 1', 'buildah', 'podman'], want: 'buildah' },
  { name: 'podman, if nothing else is installed', there: ['podman'], want: 'podman' },
])('takes $name', async ({ there, want }) => {
  for (const program of there) await install(...(program.split(': ') as [string, string?]));
  expect((await findBuilder()).name).toBe(want);
});

it('chooses the given one, or none', async () => {
  await install('docker');
  await install('buildah', 'exit 1');
  await install('podman');
  expect((await findBuilder('podman')).name).toBe('podman');
  await expect(findBuilder('buildah')).rejects.toThrow("buildah doesn't work here");
});

it('says what to install if there is no builder', async () => {
  await expect(findBuilder()).rejects.toThrow('install one of them');
});

it.each([
  {
    builder: 'docker',
    registry: true,
    want: 'docker build -t semaphore-policy:1 -f apps/policy/Dockerfile --build-arg BASE=debian .',
  },
  {
    builder: 'buildah',
    registry: true,
    want: 'buildah build --isolation chroot -t semaphore-policy:1 -f apps/policy/Dockerfile --build-arg BASE=debian .',
  },
  {
    builder: 'buildah',
    registry: false,
    want: 'buildah build --isolation chroot --pull-never -t semaphore-policy:1 -f apps/policy/Dockerfile --build-arg BASE=debian .',
  },
])('builds with $builder, registry $registry', async ({ builder, registry, want }) => {
  await install(builder);
  await buildImage(await findBuilder(), image, { registry });
  expect((await calls()).at(-1)).toBe(want);
});

it.each([
  { builder: 'docker', want: 'docker build --build-arg SOURCE_DATE_EPOCH=1700000000 -t semaphore-policy:1' },
  { builder: 'buildah', want: 'buildah build --isolation chroot --timestamp 1700000000 -t semaphore-policy:1' },
  { builder: 'podman', want: 'podman build --isolation chroot --timestamp 1700000000 -t semaphore-policy:1' },
])('dates an image with $builder', async ({ builder, want }) => {
  await install(builder);
  await buildImage(await findBuilder(), { ...image, epoch: 1_700_000_000 }, { registry: true });
  expect((await calls()).at(-1)).toBe(`${want} -f apps/policy/Dockerfile --build-arg BASE=debian .`);
});

it.each([
  { platform: undefined, registry: false, want: 'buildah build --isolation chroot --pull-never --output' },
  { platform: 'linux/arm64', registry: true, want: 'buildah build --isolation chroot --platform linux/arm64 --output' },
])('takes files out of an image of $platform', async ({ platform, registry, want }) => {
  await install('buildah');
  await exportFiles(await findBuilder(), { file: 'parts', context: '.', to: '/there', platform }, { registry });
  expect((await calls()).at(-1)).toBe(`${want} type=local,dest=/there -f parts .`);
});

it('keeps images of buildah and podman out of the machine’s own store', async () => {
  for (const name of ['buildah', 'podman']) {
    await install(name);
    const { command } = await findBuilder();
    expect(command[0]).toBe(name);
    expect(command.slice(1, 3)).toEqual(['--root', expect.stringContaining('kube-semaphore')]);
    await rm(join(dir, name));
  }
});

it('shows the end of the output of a failed build', async () => {
  await install('docker', '[ "$1" = info ] || { echo "no space left" >&2; exit 3; }');
  await expect(buildImage(await findBuilder(), image, { registry: true })).rejects.toThrow(
    'docker: exit code 3\nno space left',
  );
});

it('pulls a missing image', async () => {
  await install('docker', '[ "$1" != inspect ]');
  await fetchImage(await findBuilder(), 'debian:slim');
  expect((await calls()).at(-1)).toBe('docker pull debian:slim');
});

it.each([
  { builder: 'docker', says: '204000123', want: 204_000_123 },
  { builder: 'buildah', says: '204 MB', want: 204e6 },
])('reads the size that $builder tells', async ({ builder, says, want }) => {
  await install(builder, `echo "${says}"`);
  expect(await imageBytes(await findBuilder(), 'x')).toBe(want);
});
