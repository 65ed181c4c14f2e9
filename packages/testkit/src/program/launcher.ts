import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The default folder of module.enableCompileCache(). The cache halves the time of a start. */
export const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache');

/** The variable by which a test run names its bundles: JSON, from the path of a launcher to that of its bundle. */
export const BUNDLES = 'KUBE_SEMAPHORE_BUNDLES';

/** A program's launcher, with the variables and Node.js flags of its first line. */
export type Launcher = {
  /** Its bundle, if this run has made one. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
};

/** Reads a launcher. Tests start Node.js directly, because env and npx pass no signals on. */
export function readLauncher(file: string): Launcher {
  const source = readFileSync(file, 'utf8');
  const [, variables = '', flags] = /^#!\/usr\/bin\/env -S (.*)\bnode (.*)\n/.exec(source) ?? [];
  if (flags === undefined) throw new Error(`${file} must begin with "#!/usr/bin/env -S … node …"`);
  const assignments = variables.split(' ').filter((word) => word !== '');
  const env = Object.fromEntries(assignments.map((assignment) => assignment.split('=', 2)));
  const bundles = JSON.parse(process.env[BUNDLES] ?? '{}') as Readonly<Record<string, string>>;
  return { file: bundles[file] ?? file, env, flags: flags.split(' ') };
}
