import type { Logger } from './logger.ts';

type Fields = Parameters<Logger['info']>[0];

/** More than a person reads of one kind, and little for a disk. */
const MAX_LINES = 100;
const PERIOD_MS = 60_000;

/**
 * A log for what others cause: a remote with 10,000 bad objects must not bury other lines. Writes 100 lines a minute
 * with the same message at info and warn, and at the end of the minute the number of the others. Writes all lines at
 * error, debug and trace.
 *
 * @param facts for the line with that number: `{ cluster }`
 */
export function limitedLog(log: Logger, facts: Fields): Logger {
  const lines = new Map<string, number>();
  const endPeriod = (message: string): void => {
    const suppressed = lines.get(message)! - MAX_LINES;
    lines.delete(message);
    if (suppressed > 0) log.warn({ ...facts, suppressed, line: message, periodMs: PERIOD_MS }, 'log lines suppressed');
  };
  const limited =
    (level: 'info' | 'warn') =>
    (fields: Fields, message: string): void => {
      const count = (lines.get(message) ?? 0) + 1;
      lines.set(message, count);
      if (count === 1) setTimeout(endPeriod, PERIOD_MS, message).unref();
      if (count <= MAX_LINES) log[level](fields, message);
    };
  return {
    trace: (fields, message) => log.trace(fields, message),
    debug: (fields, message) => log.debug(fields, message),
    info: limited('info'),
    warn: limited('warn'),
    error: (fields, message) => log.error(fields, message),
  };
}
