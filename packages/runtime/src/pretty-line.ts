import { styleText } from 'node:util';
import type { ErrorFields } from './error-fields.ts';

const STYLES = { trace: 'dim', debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const;

type Line = { readonly level: keyof typeof STYLES; readonly time: string; readonly msg: string };

/**
 * A JSON log line for people: `09:24:55.123 INFO  message key=value`, then the stacks of its errors, indented. Control
 * characters are escaped: a remote's error message must not steer the terminal.
 */
export function prettyLine(json: string, { colors }: { colors: boolean }): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Line & Record<string, unknown>;
  const errors = Object.entries(fields).filter((entry): entry is [string, ErrorFields] => isErrorFields(entry[1]));
  const facts = Object.entries(fields).map(
    ([name, value]) => `${name}=${isErrorFields(value) ? textOf(value.message) : textOf(value)}`,
  );
  const word = level.toUpperCase().padEnd(5);
  const head = [time.slice(11, 23), colors ? styleText(STYLES[level], word, { validateStream: false }) : word, msg];
  // The message of an error without a stack stands among the facts already.
  const stacks = errors.flatMap(([, error]) => stackLines(error).slice(error.stack === undefined ? 1 : 0));
  return `${[...head, ...facts].join(' ')}\n${stacks.map((line) => `    ${line}\n`).join('')}`;
}

/** A bare word where that is unambiguous, else JSON, which escapes line breaks and quotes. */
function textOf(value: unknown): string {
  const text = typeof value === 'string' && /^[\w.:/@*+-]+$/.test(value) ? value : JSON.stringify(value);
  return withoutControls(text);
}

function stackLines({ stack, message, cause, errors = [] }: ErrorFields): string[] {
  const own = (stack ?? message).split('\n').map((line) => withoutControls(line.trim()));
  const below = [...(cause === undefined ? [] : [cause]), ...errors].flatMap(stackLines);
  return [...own, ...below.map((line, index) => (index === 0 ? `caused by ${line}` : line))];
}

function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function isErrorFields(value: unknown): value is ErrorFields {
  return typeof value === 'object' && value !== null && 'message' in value && 'type' in value;
}
