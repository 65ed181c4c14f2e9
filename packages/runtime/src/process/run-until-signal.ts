import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';

/** The part of `process` that is needed here. */
interface ProcessEvents {
  on(event: string, listener: (...values: unknown[]) => void): unknown;
  off(event: string, listener: (...values: unknown[]) => void): unknown;
  /** The kinds of what keeps the process alive: `TCPSocketWrap`, `Timeout`. */
  getActiveResourcesInfo(): string[];
}

/** A process ends within 5 s of a signal; the rest of that is for the line that says what hangs. */
const DEADLINE_MS = 4_500;

/** A second signal within this time is the first one, forwarded. */
const ECHO_MS = 500;

const SIGNALS = ['SIGTERM', 'SIGINT'];
const FATAL = ['uncaughtException', 'unhandledRejection'];

/**
 * Runs a program until it returns, or until SIGTERM or SIGINT aborts the one signal of the process; then it has
 * `deadlineMs` to return. A second signal doesn't wait. Logs what the program throws, and uncaught errors, once.
 *
 * @returns the exit code, for `process.exit`, which must follow: 0 if the program returned, by itself or after a signal;
 *   1 if it threw, if an error was uncaught, or if it didn't stop in time
 */
export async function runUntilSignal(
  run: (options: { signal: AbortSignal }) => Promise<void>,
  {
    log,
    events = process,
    deadlineMs = DEADLINE_MS,
    now = () => performance.now(),
  }: { log: Pick<Logger, 'info' | 'warn' | 'error'>; events?: ProcessEvents; deadlineMs?: number; now?: () => number },
): Promise<0 | 1> {
  const controller = new AbortController();
  const { signal } = controller;
  const finished = new AbortController();
  const { promise: forced, resolve: force } = Promise.withResolvers<0 | 1>();

  let firstAt = 0;
  const onSignal = (name: unknown): void => {
    // A Ctrl-C arrives from the terminal, and once more from an npm that forwards it, 5 ms later.
    if (signal.aborted && now() - firstAt < ECHO_MS) return;
    if (signal.aborted) {
      log.warn({ signal: name }, 'second signal, exiting at once');
      force(1);
      return;
    }
    firstAt = now();
    log.info({ signal: name }, 'shutting down');
    controller.abort();
    void expire().catch(() => undefined); // `finished` aborts it: the program returned in time
  };
  let isFatal = false;
  const onFatal = (error: unknown): void => {
    // Once: if the log itself fails, each line is another uncaught error, without end.
    if (isFatal) return;
    isFatal = true;
    log.error({ error }, 'uncaught error');
    force(1);
  };
  const expire = async (): Promise<void> => {
    await delay(deadlineMs, undefined, { signal: finished.signal });
    log.error({ deadlineMs, open: countsOf(events.getActiveResourcesInfo()) }, 'shutdown timed out');
    force(1);
  };

  for (const name of SIGNALS) events.on(name, onSignal);
  for (const name of FATAL) events.on(name, onFatal);
  try {
    return await Promise.race([forced, outcomeOf(run, { signal, log })]);
  } finally {
    finished.abort();
    for (const name of SIGNALS) events.off(name, onSignal);
    for (const name of FATAL) events.off(name, onFatal);
  }
}

async function outcomeOf(
  run: (options: { signal: AbortSignal }) => Promise<void>,
  { signal, log }: { signal: AbortSignal; log: Pick<Logger, 'error'> },
): Promise<0 | 1> {
  try {
    await run({ signal });
    return 0;
  } catch (error) {
    if (signal.aborted && isAbort(error)) return 0;
    log.error({ error }, 'stopped by an error');
    return 1;
  }
}

/** Whether an error is the abort, or has it as a cause. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || isAbort(error.cause));
}

function countsOf(kinds: readonly string[]): Record<string, number> {
  const groups = Map.groupBy(kinds, (kind) => kind);
  return Object.fromEntries([...groups].map(([kind, members]) => [kind, members.length]));
}
