import { basename } from 'node:path';
import { runProgram } from './program.ts';
import { terminalOf, whenClosed } from './output/terminal.ts';

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

whenClosed(process, () => interrupted.abort());

const exit = runProgram(process.argv.slice(2), {
  // As a plugin, it is called by its file.
  name: basename(process.argv[1] ?? '').startsWith('kubectl-') ? 'kubectl semaphore' : 'semaphore',
  terminal: terminalOf(process),
  signal: interrupted.signal,
});
// Not awaited here: Node.js' single executable takes no module that waits.
void exit.then((code) => (process.exitCode = code));
