import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { pushImages } from '../src/release/images.ts';

const { version } = packageJson;
const IMAGE = `semaphore-policy:${version}`;
const DIGEST = `sha256:${'0a'.repeat(32)}`;

let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'push-'));
  vi.stubEnv('PATH', `${dir}:${process.env['PATH']}`);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(dir, { recursive: true });
});

/** Installs a program that records each command line, then runs `does`. */
const install = (name: string, does: string): Promise<void> =>
  writeFile(join(dir, name), `#!/bin/sh\necho "\${0##*/} $*" >> ${dir}/calls\n${does}\n`, { mode: 0o755 });

/** The command lines that push the image of policy, without the flags of the store and a folder of ours. */
const pushes = async (): Promise<readonly string[]> =>
  (await readFile(join(dir, 'calls'), 'utf8'))
    .split('\n')
    .filter((line) => line.includes(' push ') && line.includes('semaphore-policy'))
    .map((line) => line.replace(/ --root .* --storage-driver \w+( --tmpdir \S+)?/, '').replace(/file=\S+/, 'file=F'));

const writesDigest = `for word; do case $word in --digestfile=*) echo ${DIGEST} > "\${word#*=}";; esac; done`;

it.each([
  {
    name: 'docker, which prints the digest',
    docker: `echo ${version}: digest: ${DIGEST} size: 1234`,
    podman: 'exit 1',
    want: `docker push localhost:5000/owner/${IMAGE}`,
  },
  {
    name: 'podman, without TLS, if docker lacks the images',
    docker: 'exit 1',
    podman: writesDigest,
    want: `podman push --quiet --digestfile=F --tls-verify=false ${IMAGE} docker://localhost:5000/owner/${IMAGE}`,
  },
])('pushes with $name', async ({ docker, podman, want }) => {
  await install('docker', docker);
  await install('buildah', 'exit 1');
  await install('podman', podman);
  expect(Object.fromEntries(await pushImages({ registry: 'localhost:5000/owner' }))).toEqual({
    'semaphore-policy': DIGEST,
    'semaphore-service-mirror': DIGEST,
    'semaphore-wireguard': DIGEST,
    'semaphore-cli': DIGEST,
  });
  expect(await pushes()).toEqual([want]);
});

it('says what to do if an image is not built', async () => {
  for (const name of ['docker', 'buildah', 'podman']) await install(name, 'exit 1');
  await expect(pushImages({ registry: 'localhost:5000/owner' })).rejects.toThrow(
    `there is no image ${IMAGE}: run "npm run images"`,
  );
});
