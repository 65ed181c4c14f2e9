import { join } from 'node:path';
import type { Component } from '../src/real/protocol.ts';

/**
 * A component that logs the pid of its supervisor and then runs until it is killed. The folder is
 * one of its arguments, so that `ps` shows its owner.
 */
export function sleeper(dir: string, name = 'sleeper'): Component {
  const script = 'console.log(process.ppid); setInterval(() => {}, 1e6)';
  return { name, file: process.execPath, args: ['-e', script, dir], log: join(dir, `${name}.log`) };
}
