import { styleText } from 'node:util';
import { printable } from '@kube-semaphore/text';
import type { ErrorFields } from './error-fields.ts';

const STYLES = { trace: 'dim', debug: 'dim', info: 'green', warn: 'yellow', error: 'red' } as const;

type Line = { readonly level: keyof typeof STYLES; readonly time: string; readonly msg: string };

/**
 * A JSON log line for people: `09:24:55.123 INFO  message key=value`, then the stacks of its errors, indented. Escapes
 * control characters: an error message of a remote must not control the terminal.
 */
export function prettyLine(json: string, { colors }: { colors: boolean }): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Line & Record<string, unknown>;
  const errors = Object.entries(fields).filter((entry): entry is [string, ErrorFields] => isErrorFields(entry[1]));
  const facts = Object.entries(fields).map(
    ([name, value]) => `${printable(name)}=${isErrorFields(value) ? textOf(value.message) : textOf(value)}`,
  );
  const word = level.toUpperCase().padEnd(5);
  const styled = colors ? styleText(STYLES[level], word, { validateStream: false }) : word;
  const head = [time.slice(11, 23), styled, printable(msg, Infinity)];
  // The message of an error without a stack is already among the facts.
  const stacks = errors.flatMap(([, error]) => stackLines(error).slice(error.stack === undefined ? 1 : 0));
  return `${[...head, ...facts].join(' ')}\n${stacks.map((line) => `    ${line}\n`).join('')}`;
}

/** A bare word if that is unambiguous, else JSON, which escapes line breaks and quotes. */
function textOf(value: unknown): string {
  const text = typeof value === 'string' && /^[\w.:/@*+-]+$/.test(value) ? value : JSON.stringify(value);
  return printable(text, Infinity);
}

function stackLines({ type, stack, message, cause, errors }: ErrorFields): string[] {
  // Only frames: a stack begins with the message, whose lines may look like anything.
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^ +at /.test(line)) : undefined;
  const lines = frames === undefined ? [message] : [`${type}: ${message}`, ...frames];
  const own = lines.map((line) => printable(line.trim(), Infinity));
  // `bounded` replaces errors that don't fit into the line by a text.
  const below = [cause, ...(Array.isArray(errors) ? errors : [])].filter(isErrorFields).flatMap(stackLines);
  return [...own, ...below.map((line, index) => (index === 0 ? `caused by ${line}` : line))];
}

function isErrorFields(value: unknown): value is ErrorFields {
  if (typeof value !== 'object' || value === null || !('type' in value && 'message' in value)) return false;
  return typeof value.message === 'string';
}
