import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { findBinaries } from './real/binaries.ts';

/** Found once: a test may change HOME. */
const binaries = findBinaries(['crane']);

/** A registry of images and charts on this machine, without TLS and in memory. */
export type Registry = {
  readonly port: number;
  /** `localhost:1234` */
  readonly host: string;
  stop(): Promise<void>;
};

/** Starts a registry, empty. @throws {Error} if crane isn't built */
export async function startRegistry(): Promise<Registry> {
  if (!binaries.ok) throw new Error(binaries.reason);
  const args = ['registry', 'serve', '--address=localhost:0'];
  const child = spawn(binaries.paths.crane, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill();
    await ended;
  };
  for await (const line of createInterface(child.stderr)) {
    const [, port] = /serving on port (\d+)/.exec(line) ?? [];
    if (port !== undefined) {
      child.stderr.resume();
      return { port: Number(port), host: `localhost:${port}`, stop };
    }
  }
  throw new Error('crane serves no registry');
}
