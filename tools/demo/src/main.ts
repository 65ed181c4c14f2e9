import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import { findBinaries } from '@kube-semaphore/testkit';
import { help, readCommandLine } from './command-line.ts';
import { play } from './demo.ts';
import { describeFailure } from './failure.ts';
import { Interruption, untilAborted } from './interruption.ts';
import { Narrator } from './narrator.ts';
import { abilityOf, lookAround } from './stage/ability.ts';
import { Backstage } from './stage/backstage.ts';

/** Nobody likes to read longer lines. */
const MAX_WIDTH = 100;

/** A Ctrl-C is to be over within 5 s. */
const CLOSE_MS = 4_000;

const commandLine = readCommandLine(process.argv.slice(2));
if (commandLine.kind === 'help') {
  process.stdout.write(help);
  process.exit(0);
}
if (commandLine.kind === 'bad-usage') {
  process.stderr.write(`${commandLine.problem}\n\n${help}`);
  process.exit(2);
}
const { real, keep } = commandLine;
if (real) {
  const binaries = findBinaries(['etcd', 'kube-apiserver']);
  if (!binaries.ok) {
    process.stderr.write(`--real: ${binaries.reason}\n`);
    process.exit(1);
  }
}

const stop = new AbortController();
// npm passes on a Ctrl-C that the terminal has sent here already, so that a second signal says nothing new.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort(new Interruption(name)));
// A pipe into `head`, for example.
process.stdout.on('error', ({ message }) => stop.abort(new Interruption(message)));
process.on('uncaughtException', (error) => stop.abort(error));

const backstage = new Backstage({ real });
const tell = new Narrator({
  print: (line) => process.stdout.write(`${line}\n`),
  paint: (format, text) => styleText(format, text, { stream: process.stdout }),
  // A terminal that doesn't know its size says 0.
  width: Math.min(process.stdout.columns || MAX_WIDTH, MAX_WIDTH),
  signal: stop.signal,
});
process.exit(await run());

/** @returns the exit code */
async function run(): Promise<0 | 1> {
  try {
    await untilAborted(play({ backstage, tell, keep, real, ability: abilityOf(lookAround(process.env)), stop }), stop.signal);
    return 0;
  } catch (error) {
    const failed = !(error instanceof Interruption);
    if (failed) process.stderr.write(await describeFailure(error, backstage.apps));
    else process.stdout.write('\nStopping.\n');
    // A real cluster may take longer to start than anybody waits; its supervisor then cleans up on its own.
    await Promise.race([backstage.close(), delay(CLOSE_MS)]);
    return failed ? 1 : 0;
  }
}
