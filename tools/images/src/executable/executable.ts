import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../bundle/bundle.ts';
import type { Lock } from '../bom/npm.ts';
import { run } from '../run.ts';

const require = createRequire(import.meta.url);

/** The machines that it is made for, by the names of npm's packages with Node.js. */
export const targets = ['linux-x64', 'linux-arm64', 'win-x64'] as const;

export type Target = (typeof targets)[number];

/** Where Node.js looks for the program in its own executable: https://nodejs.org/api/single-executable-applications.html. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/**
 * Makes `dist/semaphore-<target>`: the Node.js of the workspace, with the bundle of the operator's program inside.
 *
 * @param root the workspace
 * @returns its path
 * @throws {Error} if npm doesn't have that Node.js, or another one than package-lock.json says
 */
export async function makeExecutable(target: Target, { root }: { readonly root: string }): Promise<string> {
  const main = await bundle('cli', { root });
  const path = join(root, 'dist', `semaphore-${target}${target === 'win-x64' ? '.exe' : ''}`);
  const work = await mkdtemp(join(tmpdir(), 'executable-'));
  try {
    const [config, output] = [join(work, 'config.json'), join(work, 'program.blob')];
    // The flags of the launcher; the code cache is of one machine.
    const flags = { disableExperimentalSEAWarning: true, useCodeCache: false, execArgv: ['--disable-sigusr1'] };
    await writeFile(config, JSON.stringify({ main, output, ...flags }));
    await run([process.execPath, '--experimental-sea-config', config]);
    await copyFile(await nodeFor(target, { root, work }), path);
    await run([
      process.execPath,
      require.resolve('postject/dist/cli.js'),
      path,
      RESOURCE,
      output,
      '--sentinel-fuse',
      FUSE,
    ]);
    await chmod(path, 0o755);
    return path;
  } finally {
    await rm(work, { recursive: true });
  }
}

/** Node.js for a machine: that of the workspace if it is installed, else from npm, with the hash of package-lock.json. */
async function nodeFor(target: Target, { root, work }: { root: string; work: string }): Promise<string> {
  const name = `node-${target}`;
  const program = target === 'win-x64' ? 'bin/node.exe' : 'bin/node';
  if (target === `${process.platform}-${process.arch}`) return require.resolve(`${name}/${program}`);
  const { version, integrity } = await lockedNode(target, root);
  await run(['npm', 'pack', `${name}@${version}`, '--pack-destination', work]);
  const archive = join(work, `${name}-${version}.tgz`);
  const hash = `sha512-${createHash('sha512')
    .update(await readFile(archive))
    .digest('base64')}`;
  if (hash !== integrity) throw new Error(`${name}@${version} of the registry isn't that of package-lock.json`);
  await run(['tar', '-C', work, '-xzf', archive, `package/${program}`]);
  return join(work, 'package', program);
}

/** The Node.js of a machine, as package-lock.json has it. */
export async function lockedNode(target: Target, root: string): Promise<Lock['packages'][string]> {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock;
  return packages[`node_modules/node-${target}`] ?? {};
}
