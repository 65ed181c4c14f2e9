import { printableJson } from '@kube-semaphore/text';
import { pino, stdTimeFunctions } from 'pino';
import { boundedFields, type LogFields } from './bounded-fields.ts';
import { prettyLine } from './pretty-line.ts';

/** Writes log lines: the message is constant, the fields vary. */
export interface Logger {
  trace(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/** The destination of lines: `process.stderr` writes before it returns, so no line is lost on exit. */
interface LogDestination {
  write(line: string): unknown;
  readonly isTTY?: boolean;
  hasColors?(): boolean;
}

/**
 * Logs to `destination`: one JSON object per line with `level` (a word), `time` (ISO 8601) and `msg`, or a line for
 * people; `auto` is the latter on a terminal. Drops lines below `level`, and all lines if it is `off`. Fields may hold
 * text of others: they are bounded, and can't control a terminal or begin another line.
 *
 * @param strip removes our own credentials from a text
 */
export function createLogger({
  level,
  format,
  destination = process.stderr,
  strip = (text) => text,
}: {
  level: keyof Logger | 'off';
  format: 'auto' | 'json' | 'pretty';
  destination?: LogDestination;
  strip?: (text: string) => string;
}): Logger {
  const isPretty = format === 'pretty' || (format === 'auto' && destination.isTTY === true);
  const colors = isPretty && destination.hasColors?.() === true;
  const write = isPretty
    ? (line: string) => destination.write(prettyLine(line, { colors }))
    : (line: string) => destination.write(printableJson(line));
  return pino(
    {
      level: level === 'off' ? 'silent' : level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (word) => ({ level: word }), log: (fields) => boundedFields(fields, strip) },
    },
    { write },
  );
}
