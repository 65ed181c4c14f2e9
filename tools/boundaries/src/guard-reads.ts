import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject } from 'vitest';
import { isTestInput, type Workspace } from './test-inputs.ts';

/*
 * Runs before each test file. A test fails if it reads a file, or starts a program with the path of a file, that isn't an
 * input of its project's `test` target: nx wouldn't run the test again after a change of that file. Imports need no guard,
 * as `npm run boundaries` and knip find what a project imports without declaring it.
 */

declare module 'vitest' {
  interface ProvidedContext {
    readonly workspace: Workspace;
  }
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const workspace = inject('workspace');

const readers = ['copyFile', 'cp', 'createReadStream', 'open', 'opendir', 'readdir', 'readFile'];
const starters = ['exec', 'execFile', 'fork', 'spawn'];

function check(path: string): void {
  const name = relative(root, path);
  if (name.startsWith('..') || /(?:^|\/)(?:node_modules|dist|\.git)(?:\/|$)/.test(name)) return;
  const file = relative(root, expect.getState().testPath ?? '');
  const folder = file.split('/', file.startsWith('e2e/') ? 1 : 2).join('/');
  if (isTestInput(name, folder, workspace)) return;
  throw new Error(`${file} reads ${name}: add it to nx.namedInputs.reads in ${folder}/package.json`);
}

/** The path of a file that is read; a file descriptor has none. */
function checkRead(path: unknown): void {
  if (path instanceof URL) check(fileURLToPath(path));
  else if (typeof path === 'string' || Buffer.isBuffer(path)) check(resolve(path.toString()));
}

/** The paths in a command line. */
function checkStart(command: unknown, args: unknown): void {
  const words = [command, ...(Array.isArray(args) ? (args as readonly unknown[]) : [])];
  for (const word of words.filter((each) => typeof each === 'string')) {
    for (const rest of word.split(root).slice(1)) check(root + rest.replace(/[\s'"`:,;].*/s, ''));
  }
}

type Functions = Record<string, unknown>;

/** Marks guarded functions: unit tests share a process, and so do their guards. */
const guarded = Symbol.for('kube-semaphore.guarded');

function guardAll(module: Functions, names: readonly string[], before: (...args: readonly unknown[]) => void): void {
  for (const name of names.flatMap((each) => [each, `${each}Sync`])) {
    const original = module[name];
    if (typeof original !== 'function' || guarded in original) continue;
    const guard = function (this: unknown, ...args: readonly unknown[]): unknown {
      before(...args);
      return Reflect.apply(original, this, args);
    };
    // What promisify finds on them, and their names.
    Object.defineProperties(guard, Object.getOwnPropertyDescriptors(original));
    module[name] = Object.assign(guard, { [guarded]: true });
  }
}

guardAll(fs as unknown as Functions, readers, checkRead);
guardAll(fs.promises as unknown as Functions, readers, checkRead);
guardAll(childProcess as unknown as Functions, starters, checkStart);
syncBuiltinESMExports();
