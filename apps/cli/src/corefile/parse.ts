import type { Parsed } from '@kube-semaphore/net';
import { quotedWords } from '@kube-semaphore/text';
import { lastLineOf, type Token } from './lexer.ts';
import { type Importable, Mistake, type Span, Words } from './words.ts';

/** A line of a server block, with the lines in its braces: `kubernetes cluster.local { … }`. */
export type Directive = {
  readonly name: string;
  readonly args: readonly string[];
  /** The words in its braces, line by line. */
  readonly lines: readonly (readonly string[])[];
  /** All its words, also the name and the braces. */
  readonly tokens: readonly Token[];
  /** That of the outermost `import`, if a snippet has it. */
  readonly span: Span;
  readonly isImported: boolean;
};

export type ServerBlock = {
  /** As they are written: `dns://.:53`. */
  readonly keys: readonly Token[];
  readonly directives: readonly Directive[];
  readonly span: Span;
  readonly isImported: boolean;
  /** The files that it imports, and that aren't known here. */
  readonly files: readonly string[];
};

/** What CoreDNS reads in its file. */
export type Corefile = {
  readonly text: string;
  readonly blocks: readonly ServerBlock[];
  /** The files that it imports outside of its server blocks, and that aren't known here. */
  readonly files: readonly string[];
};

/** Whether a variable of CoreDNS's container is a part of a word. */
export const hasVariable = (word: string): boolean => hasBetween(word, '{$', '}') || hasBetween(word, '{%', '%}');

function hasBetween(word: string, begin: string, end: string): boolean {
  const at = word.indexOf(begin);
  return at >= 0 && word.includes(end, at + begin.length + 1);
}

/** As caddyfile/parse.go of github.com/coredns/caddy, but that unknown files and variables stay as they are. */
export function parseCorefile(text: string, importable: Importable = () => undefined): Parsed<Corefile> {
  try {
    return { ok: true, value: corefileOf(text, importable) };
  } catch (error) {
    if (error instanceof Mistake) return { ok: false, reason: error.message };
    throw error;
  }
}

function corefileOf(text: string, importable: Importable): Corefile {
  const words = new Words(text, importable);
  const blocks: ServerBlock[] = [];
  const files: string[] = [];
  while (words.peek() !== undefined) {
    const start = takeKeys(words, files);
    const [first] = start.keys;
    if (first === undefined) {
      // It ends with an import.
      if (words.peek() === undefined) break;
      throw new Mistake(`line ${words.peek()!.line}: a server block has no name`);
    }
    const hasBraces = words.peek()?.text === '{';
    if (hasBraces) words.take();
    const [, snippet] = start.keys.length === 1 ? (/^\((.*)\)$/s.exec(first.text) ?? []) : [];
    if (snippet === undefined) {
      blocks.push(takeBlock(words, start, { first, hasBraces }));
      continue;
    }
    if (!hasBraces) throw new Mistake(`line ${first.line}: the snippet ${quotedWords(snippet)} has no "{"`);
    words.define(snippet, takeSnippet(words));
  }
  return { text, blocks, files };
}

/** The names of a server block, and where it starts. */
type Start = { readonly keys: readonly Token[]; readonly span: Span | undefined; readonly isImported: boolean };

/** @param files gets imports before and between the names */
function takeKeys(words: Words, files: string[]): Start {
  const keys: Token[] = [];
  let span: Span | undefined;
  let isImported = false;
  let expectsKey = true;
  for (let token = words.peek(); token !== undefined; token = words.peek()) {
    if (words.isImport(token)) {
      words.takeImport(files);
      continue;
    }
    if (token.text === '{' || (!expectsKey && keys.length > 0 && words.beginsLine(token))) break;
    words.take();
    span ??= words.spanOf(token);
    isImported ||= words.isImporting;
    expectsKey = token.text.endsWith(',');
    const key = expectsKey ? { ...token, text: token.text.slice(0, -1), end: token.end - 1 } : token;
    if (token.text !== '') keys.push(key);
  }
  return { keys, span, isImported };
}

function takeBlock(
  words: Words,
  { keys, span, isImported }: Start,
  { first, hasBraces }: { readonly first: Token; readonly hasBraces: boolean },
): ServerBlock {
  const files: string[] = [];
  const directives: Directive[] = [];
  for (let token = words.peek(); token !== undefined && token.text !== '}'; token = words.peek()) {
    if (token.text === 'import') words.takeImport(files);
    else directives.push(takeDirective(words, files));
  }
  // Without braces, it may end with an import.
  const end = hasBraces ? words.take().end : (directives.at(-1)?.span ?? first).end;
  return { keys, directives, span: isImported ? span! : { start: span!.start, end }, isImported, files };
}

function takeDirective(words: Words, files: string[]): Directive {
  const span = words.spanOf(words.peek()!);
  const isImported = words.isImporting;
  const name = words.take();
  const tokens = [name];
  let { end } = name;
  let depth = 0;
  for (let token = words.peek(); token !== undefined; token = words.peek()) {
    if (token.text === '{') depth += 1;
    else if (depth === 0 && words.beginsLine(token)) break;
    else if (token.text === '}') {
      depth -= 1;
      if (depth < 0) throw new Mistake(`line ${token.line}: "}" closes nothing`);
    } else if (words.isImport(token)) {
      words.takeImport(files);
      continue;
    }
    tokens.push(words.take());
    if (!words.isImporting) ({ end } = token);
  }
  if (depth > 0) throw new Mistake(`line ${name.line}: ${quotedWords(name.text)} has no "}"`);
  return { ...wordsOf(tokens), tokens, span: isImported ? span : { start: span.start, end }, isImported };
}

/** The words up to the brace that closes a snippet. */
function takeSnippet(words: Words): readonly Token[] {
  const tokens: Token[] = [];
  for (let depth = 1; ;) {
    const token = words.take();
    if (token.text === '{') depth += 1;
    if (token.text === '}') depth -= 1;
    if (depth === 0) return tokens;
    tokens.push(token);
  }
}

/** The words of a directive, as plugins read them. */
function wordsOf(tokens: readonly Token[]): Pick<Directive, 'name' | 'args' | 'lines'> {
  const [name, ...rest] = tokens;
  const args: string[] = [];
  const lines: string[][] = [];
  let lastLine = lastLineOf(name!);
  let isInBraces = false;
  for (const token of rest) {
    const isNew = token.line !== lastLine;
    lastLine = lastLineOf(token);
    if (!isInBraces) {
      if (token.text === '{') isInBraces = true;
      else args.push(token.text);
    } else if (token.text !== '}' && token.text !== '{') {
      const line = lines.at(-1);
      if (isNew || line === undefined) lines.push([token.text]);
      else line.push(token.text);
    }
  }
  return { name: name!.text, args, lines };
}
