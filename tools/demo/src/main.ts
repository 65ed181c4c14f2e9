import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect, styleText } from 'node:util';
import { findBinaries } from '@kube-semaphore/testkit';
import { Command } from 'commander';
import { abilityOf, readFacts } from './ability.ts';
import { Printer } from './printer.ts';
import { Started } from './started.ts';
import { run } from './story.ts';

/** Longer lines are hard to read. */
const MAX_WIDTH = 100;

/** A Ctrl-C must end the demo within 5 s. */
const CLOSE_MS = 4_000;

const TAIL_LINES = 15;

/** The demo stops without an error: by a signal, or because its output is closed. */
class Interruption extends Error {}

const { keep = false, real = false } = new Command('npm run demo --')
  .description('Shows kube-semaphore at work between two small clusters on this machine, in half a minute.')
  .option('--keep', 'keep everything running at the end, until Ctrl-C, and print commands to explore it')
  .option(
    '--real',
    'use real API servers (kube-apiserver and etcd, built by "npm run binaries"); if this machine can run nodes, and ' +
      '"npm run images" was run, two whole clusters follow, for about five minutes',
  )
  .showHelpAfterError()
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .parse()
  .opts<{ readonly keep?: true; readonly real?: true }>();
const binaries = findBinaries(real ? ['etcd', 'kube-apiserver'] : []);
if (!binaries.ok) {
  process.stderr.write(`--real: ${binaries.reason}\n`);
  process.exit(1);
}

const stop = new AbortController();
// npm forwards a Ctrl-C that the terminal already sent here. The second signal changes nothing.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort(new Interruption(name)));
// For example, a pipe into `head`.
process.stdout.on('error', ({ message }) => stop.abort(new Interruption(message)));
process.on('uncaughtException', (error) => stop.abort(error));
const aborted = once(stop.signal, 'abort').then(() => Promise.reject(stop.signal.reason as Error));

const started = new Started((error) => stop.abort(error));
const out = new Printer({
  print: (line) => process.stdout.write(`${line}\n`),
  paint: (format, text) => styleText(format, text, { stream: process.stdout }),
  // A terminal that does not know its size says 0.
  width: Math.min(process.stdout.columns || MAX_WIDTH, MAX_WIDTH),
  signal: stop.signal,
});
try {
  await Promise.race([run({ keep, real, out, started, ability: abilityOf(readFacts(process.env)) }), aborted]);
  process.exit(0);
} catch (error) {
  const isFailure = !(error instanceof Interruption);
  if (isFailure) process.stderr.write(describe(error));
  else process.stdout.write('\nStopping.\n');
  // A real cluster may take longer to start than CLOSE_MS. Its supervisor then cleans up on its own.
  await Promise.race([started.close(), delay(CLOSE_MS)]);
  process.exit(isFailure ? 1 : 0);
}

/** What failed, and the end of each app's log. */
function describe(error: unknown): string {
  const logs = started.apps.flatMap(({ title, program }) => {
    const lines = program.stderr().trimEnd().split('\n').slice(-TAIL_LINES);
    return [`The last lines of ${title}:`, ...lines, ''];
  });
  const message = error instanceof Error ? error.message : String(error);
  return ['', `The demo failed: ${message}`, '', ...logs, inspect(error), ''].join('\n');
}
