import { isNewLine, type Token, tokensOf } from './lexer.ts';

/** A part of the text. */
export type Span = { readonly start: number; readonly end: number };

/** The texts by file name that a pattern of `import` means; undefined: that isn't known. */
export type Importable = (pattern: string) => ReadonlyMap<string, string> | undefined;

/** Some 2 MiB, as snippets may contain each other. */
const MAX_TOKENS = 200_000;

/** As in CoreDNS. */
const MAX_IMPORTS = 10_000;

/** Why CoreDNS doesn't read a Corefile. */
export class Mistake extends Error {}

type Source = { readonly tokens: readonly Token[]; next: number; readonly span: Span | undefined };

/** The words of a Corefile, one after the other; those of a snippet or a file instead of its `import`. All methods throw Mistakes. */
export class Words {
  readonly #sources: Source[];
  readonly #snippets = new Map<string, readonly Token[]>();
  readonly #importable: Importable;
  #last: Token | undefined;
  #taken = 0;
  #imports = 0;

  constructor(text: string, importable: Importable) {
    this.#sources = [{ tokens: tokensOf(text), next: 0, span: undefined }];
    this.#importable = importable;
  }

  /** The next word; undefined at the end. */
  peek(): Token | undefined {
    const sources = this.#sources;
    while (sources.length > 1 && sources.at(-1)!.next === sources.at(-1)!.tokens.length) sources.pop();
    const { tokens, next } = sources.at(-1)!;
    return tokens[next];
  }

  take(): Token {
    const token = this.peek();
    if (token === undefined) throw new Mistake('it ends before a "}"');
    this.#taken += 1;
    if (this.#taken > MAX_TOKENS) throw new Mistake(`it has more than ${MAX_TOKENS} words`);
    this.#sources.at(-1)!.next += 1;
    this.#last = token;
    return token;
  }

  /** Whether the last word that was taken, or the next one that was seen, is of an import. */
  get isImporting(): boolean {
    return this.#sources.length > 1;
  }

  /** Of a word that was taken: its own place, or that of the outermost import. */
  spanOf({ start, end }: Token): Span {
    return this.#sources[1]?.span ?? { start, end };
  }

  beginsLine(token: Token): boolean {
    return isNewLine(this.#last, token);
  }

  /** Whether a word stands where CoreDNS would read an `import`. */
  isImport(token: Token): boolean {
    return token.text === 'import' && this.beginsLine(token);
  }

  /** @param unknown gets the name of what is neither a snippet nor a known file */
  takeImport(unknown: string[]): void {
    const before = this.#last;
    const span = this.spanOf(this.take());
    const name = this.peek();
    if (name === undefined || this.beginsLine(name)) throw new Mistake(`line ${this.#last?.line}: import needs a name`);
    this.take();
    this.#last = before;
    const imported = this.#importedAs(name.text);
    if (imported === undefined) {
      unknown.push(name.text);
      return;
    }
    this.#imports += 1;
    if (this.#imports > MAX_IMPORTS) throw new Mistake(`it imports more than ${MAX_IMPORTS} snippets and files`);
    const whole = this.isImporting ? span : { start: span.start, end: name.end };
    this.#sources.push({ tokens: imported, next: 0, span: whole });
  }

  define(snippet: string, tokens: readonly Token[]): void {
    this.#snippets.set(snippet, tokens);
  }

  #importedAs(name: string): readonly Token[] | undefined {
    const snippet = this.#snippets.get(name);
    const read = snippet === undefined ? this.#importable(name) : undefined;
    return read === undefined
      ? snippet
      : [...read].flatMap(([file, content]) => tokensOf(content).map((token) => ({ ...token, file })));
  }
}
