import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';

/** The part of `process` that a run listens to. */
interface ProcessEvents {
  on(event: string, listener: (...values: unknown[]) => void): unknown;
  off(event: string, listener: (...values: unknown[]) => void): unknown;
  /** What keeps the process alive, by kind: `TCPSocketWrap`, `Timeout`. */
  getActiveResourcesInfo(): string[];
}

/** A process promises to end within 5 s of a signal; the rest is for writing the line that says what hung. */
const DEADLINE_MS = 4_500;

/** A signal that comes so soon after the first is the same one, on another way. */
const ECHO_MS = 500;

const SIGNALS = ['SIGTERM', 'SIGINT'];
const FATAL = ['uncaughtException', 'unhandledRejection'];

/**
 * Runs a program until it returns, or until SIGTERM or SIGINT aborts the one signal of the process; then it has
 * `deadlineMs` to return. A second signal doesn't wait. What the program throws, and what nobody caught, is logged
 * here, once.
 *
 * @returns the exit code, for `process.exit`, which must follow: 0 if the program returned, or was asked to stop and
 *   did; 1 if it threw, if something was thrown that nobody caught, or if it didn't stop in time
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
    // A Ctrl-C reaches us from the terminal and once more from an npm that passes it on, 5 ms later.
    if (signal.aborted && now() - firstAt < ECHO_MS) return;
    if (signal.aborted) {
      log.warn({ signal: name }, 'second signal, exiting at once');
      force(1);
      return;
    }
    firstAt = now();
    log.info({ signal: name }, 'shutting down');
    controller.abort();
    void expire().catch(() => undefined); // `finished` ended the wait: the program returned in time
  };
  let isLost = false;
  const onFatal = (error: unknown): void => {
    // Once: where the log itself fails, each line would be the next uncaught error, and the end would never come.
    if (isLost) return;
    isLost = true;
    log.error({ error }, 'uncaught error');
    force(1);
  };
  const expire = async (): Promise<void> => {
    await delay(deadlineMs, undefined, { signal: finished.signal });
    log.error({ deadlineMs, open: countsOf(events.getActiveResourcesInfo()) }, 'shutdown did not end in time');
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

/** Whether an error is the abort, or was caused by it. */
function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || isAbort(error.cause));
}

function countsOf(kinds: readonly string[]): Record<string, number> {
  const groups = Map.groupBy(kinds, (kind) => kind);
  return Object.fromEntries([...groups].map(([kind, members]) => [kind, members.length]));
}
