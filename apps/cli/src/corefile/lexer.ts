/** A word of a Corefile. */
export type Token = {
  readonly text: string;
  /** Where it begins. */
  readonly line: number;
  /** The file that has it, if another one imports that. */
  readonly file?: string;
  /** Its place in the file, with its quotes. */
  readonly start: number;
  readonly end: number;
};

/** As Go's unicode.IsSpace. */
const SPACE = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** As `next` in caddyfile/lexer.go of github.com/coredns/caddy: without comments, quotes and escapes. */
export function tokensOf(corefile: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let current: { text: string; line: number; start: number } | undefined;
  let [isComment, isQuoted, isEscaped] = [false, false, false];
  /** Where a word ends that a comment follows at once. */
  let wordEnd: number | undefined;
  const finish = (end: number): void => {
    if (current === undefined) return;
    tokens.push({ ...current, end: wordEnd ?? end });
    wordEnd = undefined;
    // A comment that begins within a word ends with the word.
    [current, isQuoted, isComment] = [undefined, false, false];
  };
  for (let i = corefile.startsWith('\uFEFF') ? 1 : 0; i < corefile.length; i += 1) {
    const char = corefile[i]!;
    const at = line;
    if (char === '\n') line += 1;
    if (isQuoted && current !== undefined) {
      if (!isEscaped && char === '\\') {
        isEscaped = true;
      } else if (!isEscaped && char === '"') {
        finish(i + 1);
      } else {
        current.text += (isEscaped && char !== '"' ? '\\' : '') + char;
        isEscaped = false;
      }
    } else if (SPACE.test(char)) {
      if (char === '\n') isComment = false;
      if (char === '\r') continue;
      finish(i);
    } else if (isComment || char === '#') {
      if (!isComment && current !== undefined) wordEnd = i;
      isComment = true;
    } else if (current === undefined && char === '"') {
      current = { text: '', line: at, start: i };
      isQuoted = true;
    } else {
      current ??= { text: '', line: at, start: i };
      current.text += char;
    }
  }
  finish(corefile.length);
  return tokens;
}

/** Whether a word begins a line, after another one. */
export const isNewLine = (last: Token | undefined, { line, file }: Token): boolean =>
  last === undefined || last.file !== file || lastLineOf(last) < line;

/** A quoted word may have several lines. */
export const lastLineOf = ({ text, line }: Token): number => line + text.split('\n').length - 1;
