import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Program, spawnProgram } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';
import type { DemoCluster } from './demo-cluster.ts';

/** How to start one of our programs. */
export type Launch = {
  readonly program: `semaphore-${'policy' | 'service-mirror' | 'wireguard'}`;
  /** By name, without hyphens. `true` is a flag without a value. */
  readonly flags: Readonly<Record<string, string | true>>;
  /** The machine that it runs on, if it isn't this one. */
  readonly place?: Place;
  /** The PATH by which it finds `wg` and `ip`. */
  readonly path?: string;
};

/** The launch of a program that runs until the demo ends it; `replica` if several share a Lease. */
export type AppOptions = Launch & { readonly cluster: DemoCluster; readonly replica?: 'first' | 'second' };

/** A program in its own process. */
export type App = {
  readonly options: AppOptions;
  readonly title: string;
  readonly logFile: string;
  readonly program: Program;
  /** Its command line, as a user would type it, in lines. */
  readonly command: readonly string[];
  /** Waits until it is ready. Returns the ms since its start. */
  readonly ready: () => Promise<number>;
  /** False from the call of `stop` on. */
  readonly isRunning: () => boolean;
  /** Stops it as Kubernetes does, or as a crash does. Idempotent. */
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
};

/** @param number distinguishes its log from others */
export function startApp(options: AppOptions, number: number, onDeath: (error: Error) => void): App {
  const { cluster, replica } = options;
  const logFile = join(cluster.server.dir, `${options.program}-${number}.log`);
  const title = `${options.program} of ${cluster.name}${replica === undefined ? '' : `, ${replica} replica`}`;
  const startMs = performance.now();
  const program = spawn(options, [], logFile);
  let isRunning = true;
  void program.exited.then(({ code, signal }) => {
    if (isRunning) onDeath(new Error(`${title} exited unexpectedly: ${signal ?? `exit code ${code}`}`));
  });
  const ready = () => program.ready().then(() => performance.now() - startMs);
  const stop = async (signal?: 'SIGTERM' | 'SIGKILL') => {
    isRunning = false;
    await program.stop(signal);
  };
  const command = commandLines(options.program, options.flags);
  return { options, title, logFile, program, command, ready, isRunning: () => isRunning, stop };
}

/** Runs a subcommand to its end. @returns what it printed, also to stderr if it failed */
export async function runCommand(launch: Launch, command: string): Promise<{ code: number | null; lines: string[] }> {
  const program = spawn(launch, [command]);
  const { code } = await program.exited;
  const output = code === 0 ? program.stdout() : `${program.stdout()}${program.stderr()}`;
  return { code, lines: output.trimEnd().split('\n') };
}

/** A command that prints the metrics of an app. */
export async function metricsCommand({ options: { place }, program }: App): Promise<string> {
  const { port } = await program.logged('started');
  const args = ['-s', `http://127.0.0.1:${String(port)}/metrics`];
  return (place?.commandLine('curl', args) ?? ['curl', args]).flat().join(' ');
}

/** A command with its flags as a shell takes it, one flag a line. */
export function commandLines(command: string, flags: Launch['flags']): string[] {
  const lines = Object.entries(flags).map(([name, value]) => `    -${name}${value === true ? '' : ` ${value}`}`);
  return [command, ...lines].map((line, index) => (index < lines.length ? `${line} \\` : line));
}

function spawn({ program, flags, place, path }: Launch, words: readonly string[], logFile?: string): Program {
  const app = program.replace('semaphore-', '');
  const file = fileURLToPath(new URL(`../../../apps/${app}/bin/${program}.js`, import.meta.url));
  const flagWords = Object.entries(flags).flatMap(([name, value]) => [`-${name}`, ...(value === true ? [] : [value])]);
  // Without the cache that tests have: the demo leaves no files.
  const env = { NODE_DISABLE_COMPILE_CACHE: '1', ...(path !== undefined && { PATH: path }) };
  return spawnProgram(file, [...words, ...flagWords], env, { place, logFile });
}
