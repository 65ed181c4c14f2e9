import type { Corefile } from './parse.ts';
import type { Span } from './words.ts';

/** Stand around what `semaphore link` adds. */
export const BEGIN = '# semaphore link: begin';
export const END = '# semaphore link: end';

/** A part of a text, and what it becomes. */
export type Edit = Span & { readonly text: string };

export const isIn = ({ start, end }: Span, span: Span): boolean => start >= span.start && end <= span.end;

/** Whole lines, if nothing else is on them. */
export function linesOf(text: string, { start, end }: Span): Span {
  let [first, last] = [start, end];
  while (' \t'.includes(text[first - 1] ?? '\n')) first -= 1;
  if (!'\n\uFEFF'.includes(text[first - 1] ?? '\n')) return { start, end };
  while (' \t\r'.includes(text[last] ?? '\n')) last += 1;
  if (last < text.length && text[last] !== '\n') return { start: first, end };
  return { start: first, end: Math.min(last + 1, text.length) };
}

/** With an empty line after it, if another program put one between server blocks. */
export function blockLinesOf(text: string, span: Span): Span {
  const { start, end } = linesOf(text, span);
  const isFirst = start === 0 || text.startsWith('\n\n', start - 2);
  return { start, end: isFirst && text[end] === '\n' ? end + 1 : end };
}

export function edited(text: string, edits: readonly Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text: instead } of edits.toSorted((a, b) => a.start - b.start)) {
    parts.push(text.slice(at, start), instead);
    at = end;
  }
  return [...parts, text.slice(at)].join('');
}

type Marked = Span & { readonly lines: readonly Span[] };

/** What is between our two comments, and these. */
export function marksIn(text: string): readonly Marked[] {
  const marked: Marked[] = [];
  let begin: Span | undefined;
  for (const { 0: line, 1: mark, index: start } of text.matchAll(
    /^[ \t]*# semaphore link: (begin|end)[ \t\r]*$\n?/gm,
  )) {
    const span = { start, end: start + line.length };
    if (mark === 'begin') begin = span;
    else if (begin !== undefined) {
      marked.push({ start: begin.end, end: start, lines: [begin, span] });
      begin = undefined;
    }
  }
  return marked;
}

/** What CoreDNS reads: the order of server blocks means nothing to it. */
export const meaningOf = ({ blocks, files }: Corefile): string =>
  JSON.stringify([
    files,
    blocks
      .map(({ keys, directives, files: ofBlock }) =>
        JSON.stringify([
          keys.map(({ text }) => text),
          ofBlock,
          directives.map(({ name, args, lines }) => [name, args, lines]),
        ]),
      )
      .toSorted(),
  ]);
