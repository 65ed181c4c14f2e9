import { join } from 'node:path';
import type { Component } from '../src/real/protocol.ts';

/**
 * A component that writes the pid of its supervisor into its log and then runs until somebody ends it. The folder is
 * among its arguments, so that `ps` shows whose it is.
 */
export function sleeper(dir: string, name = 'sleeper'): Component {
  const script = 'console.log(process.ppid); setInterval(() => {}, 1e6)';
  return { name, file: process.execPath, args: ['-e', script, dir], log: join(dir, `${name}.log`) };
}
