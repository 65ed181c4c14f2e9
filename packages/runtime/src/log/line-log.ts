import type { Logger } from './logger.ts';
import { wordsOf } from './error-message.ts';

/**
 * A log whose warnings and errors people read, a line each: `warning: <message> (path: config.json)`. Drops lower levels.
 *
 * @param write takes a line without its end, in which text of others isn't printable yet
 */
export function lineLog(write: (line: string) => void): Logger {
  const warn: Logger['warn'] = (fields, message) => {
    const facts = Object.entries(fields).map(([name, value]) => `${name}: ${wordsOf(value)}`);
    write(`warning: ${message}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`);
  };
  const drop = (): void => undefined;
  return { trace: drop, debug: drop, info: drop, warn, error: warn };
}
