import type { Parsed } from '@kube-semaphore/net';
import { quotedWords } from '@kube-semaphore/text';
import { isNewLine, lastLineOf, type Token, tokensOf } from './lexer.ts';

/** A part of the text. */
export type Span = { readonly start: number; readonly end: number };

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

/** The texts by file name that a pattern of `import` means; undefined: that isn't known. */
export type Importable = (pattern: string) => ReadonlyMap<string, string> | undefined;

/** Whether a variable of CoreDNS's container is a part of a word. */
export const hasVariable = (word: string): boolean => hasBetween(word, '{$', '}') || hasBetween(word, '{%', '%}');

function hasBetween(word: string, begin: string, end: string): boolean {
  const at = word.indexOf(begin);
  return at >= 0 && word.includes(end, at + begin.length + 1);
}

/** Some 2 MiB, as snippets may contain each other. */
const MAX_TOKENS = 200_000;

/** As in CoreDNS. */
const MAX_IMPORTS = 10_000;

class Mistake extends Error {}

/** As caddyfile/parse.go of github.com/coredns/caddy, but that unknown files and variables stay as they are. */
export function parseCorefile(text: string, importable: Importable = () => undefined): Parsed<Corefile> {
  try {
    return { ok: true, value: corefileOf(text, importable) };
  } catch (error) {
    if (error instanceof Mistake) return { ok: false, reason: error.message };
    throw error;
  }
}

/** Words that are read one after the other; those of a snippet or a file instead of its `import`. */
type Source = { readonly tokens: readonly Token[]; next: number; readonly span: Span | undefined };

function corefileOf(text: string, importable: Importable): Corefile {
  const sources: Source[] = [{ tokens: tokensOf(text), next: 0, span: undefined }];
  const snippets = new Map<string, readonly Token[]>();
  const blocks: ServerBlock[] = [];
  const files: string[] = [];
  let last: Token | undefined;
  let taken = 0;
  let imports = 0;

  const peek = (): Token | undefined => {
    while (sources.length > 1 && sources.at(-1)!.next === sources.at(-1)!.tokens.length) sources.pop();
    const { tokens, next } = sources.at(-1)!;
    return tokens[next];
  };
  const take = (): Token => {
    const token = peek();
    if (token === undefined) throw new Mistake('it ends before a "}"');
    taken += 1;
    if (taken > MAX_TOKENS) throw new Mistake(`it has more than ${MAX_TOKENS} words`);
    sources.at(-1)!.next += 1;
    last = token;
    return token;
  };
  /** Of a word that was taken: its own place, or that of the outermost import. */
  const spanOf = ({ start, end }: Token): Span => sources[1]?.span ?? { start, end };
  /** Whether a word stands where the parser would read an `import`. */
  const isImport = (token: Token): boolean => token.text === 'import' && isNewLine(last, token);
  const importedAs = (name: string): readonly Token[] | undefined => {
    const snippet = snippets.get(name);
    const read = snippet === undefined ? importable(name) : undefined;
    return read === undefined
      ? snippet
      : [...read].flatMap(([file, content]) => tokensOf(content).map((token) => ({ ...token, file })));
  };
  const takeImport = (into: string[]): void => {
    const before = last;
    const span = spanOf(take());
    const name = peek();
    if (name === undefined || isNewLine(last, name)) throw new Mistake(`line ${last?.line}: import needs a name`);
    take();
    last = before;
    const imported = importedAs(name.text);
    if (imported === undefined) {
      into.push(name.text);
      return;
    }
    imports += 1;
    if (imports > MAX_IMPORTS) throw new Mistake(`it imports more than ${MAX_IMPORTS} snippets and files`);
    const whole = sources.length > 1 ? span : { start: span.start, end: name.end };
    sources.push({ tokens: imported, next: 0, span: whole });
  };
  const takeDirective = (into: string[]): Directive => {
    const span = spanOf(peek()!);
    const isImported = sources.length > 1;
    const tokens = [take()];
    let end = last!.end;
    let depth = 0;
    for (let token = peek(); token !== undefined; token = peek()) {
      if (token.text === '{') depth += 1;
      else if (depth === 0 && isNewLine(last, token)) break;
      else if (token.text === '}') {
        depth -= 1;
        if (depth < 0) throw new Mistake(`line ${token.line}: "}" closes nothing`);
      } else if (isImport(token)) {
        takeImport(into);
        continue;
      }
      tokens.push(take());
      if (sources.length === 1) ({ end } = token);
    }
    if (depth > 0) throw new Mistake(`line ${tokens[0]!.line}: ${quotedWords(tokens[0]!.text)} has no "}"`);
    return { ...wordsOf(tokens), tokens, span: isImported ? span : { start: span.start, end }, isImported };
  };
  const takeDirectives = (hasBraces: boolean, ofBlock: string[]): readonly Directive[] => {
    const directives: Directive[] = [];
    for (let token = peek(); token !== undefined && token.text !== '}'; token = peek()) {
      if (token.text === 'import') takeImport(ofBlock);
      else directives.push(takeDirective(ofBlock));
    }
    if (hasBraces) take();
    return directives;
  };

  while (peek() !== undefined) {
    const keys: Token[] = [];
    let span: Span | undefined;
    let isImported = false;
    let expectsKey = true;
    for (let token = peek(); token !== undefined; token = peek()) {
      if (isImport(token)) {
        takeImport(files);
        continue;
      }
      if (token.text === '{' || (!expectsKey && keys.length > 0 && isNewLine(last, token))) break;
      take();
      span ??= spanOf(token);
      isImported ||= sources.length > 1;
      expectsKey = token.text.endsWith(',');
      const key = expectsKey ? { ...token, text: token.text.slice(0, -1), end: token.end - 1 } : token;
      if (token.text !== '') keys.push(key);
    }
    const [first] = keys;
    // It ends with an import.
    if (first === undefined && peek() === undefined) break;
    if (first === undefined) throw new Mistake(`line ${peek()?.line ?? last?.line}: a server block has no name`);
    const hasBraces = peek()?.text === '{';
    if (hasBraces) take();
    const [, snippet] = keys.length === 1 ? (/^\((.*)\)$/s.exec(first.text) ?? []) : [];
    if (snippet !== undefined) {
      if (!hasBraces) throw new Mistake(`line ${first.line}: the snippet ${quotedWords(snippet)} has no "{"`);
      snippets.set(snippet, takeSnippet(peek, take));
      continue;
    }
    const ofBlock: string[] = [];
    const directives = takeDirectives(hasBraces, ofBlock);
    // Without braces, it may end with an import.
    const end = hasBraces ? last!.end : (directives.at(-1)?.span ?? first).end;
    const whole = isImported ? span! : { start: span!.start, end };
    blocks.push({ keys, directives, span: whole, isImported, files: ofBlock });
  }
  return { text, blocks, files };
}

/** The words up to the brace that closes a snippet. */
function takeSnippet(peek: () => Token | undefined, take: () => Token): readonly Token[] {
  const tokens: Token[] = [];
  for (let depth = 1; ;) {
    const token = peek();
    if (token?.text === '{') depth += 1;
    if (token?.text === '}') depth -= 1;
    take();
    if (depth === 0) return tokens;
    tokens.push(token!);
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
