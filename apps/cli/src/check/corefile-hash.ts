import { createHash } from 'node:crypto';

/** A word of a Corefile, as CoreDNS has it. */
type Token = { readonly File: ''; readonly Line: number; Text: string };

/** What we don't follow: other files, snippets, and variables of the container. Nor do we a server block without braces. */
const FOREIGN = /^import$|^\(.*\)$|\{[$%]/;

/**
 * The hashes by which the plugin reload of CoreDNS may call this Corefile in its metrics; undefined if other files or variables
 * belong to it. By `parse` in plugin/reload/reload.go, it is the JSON of what caddyfile.Parse returns; in old releases, the file.
 */
export function corefileHashes(corefile: string): ReadonlySet<string> | undefined {
  const tokens = tokensOf(corefile);
  if (tokens.some(({ Text }) => FOREIGN.test(Text))) return undefined;
  const blocks = serverBlocks(tokens);
  if (blocks === undefined) return undefined;
  const texts = [goJson(blocks), corefile];
  const hashesBy = (algorithm: string) => texts.map((text) => createHash(algorithm).update(text).digest('hex'));
  return new Set(['sha512', 'md5'].flatMap(hashesBy));
}

/** As the lexer of github.com/coredns/caddy. */
function tokensOf(corefile: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let current: Token | undefined;
  let [isComment, isQuoted, isEscaped] = [false, false, false];
  const end = (): void => {
    if (current === undefined) return;
    tokens.push(current);
    // A comment that begins within a word ends with the word.
    [current, isQuoted, isComment] = [undefined, false, false];
  };
  for (const char of corefile.replace(/^\uFEFF/, '')) {
    const at = line;
    if (char === '\n') line += 1;
    if (isQuoted && current !== undefined) {
      if (!isEscaped && char === '\\') {
        isEscaped = true;
      } else if (!isEscaped && char === '"') {
        end();
      } else {
        current.Text += (isEscaped && char !== '"' ? '\\' : '') + char;
        isEscaped = false;
      }
    } else if (/\s/.test(char)) {
      if (char === '\n') isComment = false;
      if (char !== '\r') end();
    } else if (isComment || char === '#') {
      isComment = true;
    } else if (current === undefined && char === '"') {
      current = { File: '', Line: at, Text: '' };
      isQuoted = true;
    } else {
      current ??= { File: '', Line: at, Text: '' };
      current.Text += char;
    }
  }
  end();
  return tokens;
}

type Block = { readonly Keys: string[]; readonly Tokens: Map<string, Token[]> };

/** As `parseAll` of github.com/coredns/caddy, for a valid Corefile. @returns undefined if a block has no braces */
function serverBlocks(tokens: readonly Token[]): readonly Block[] | undefined {
  const blocks: Block[] = [];
  let block: Block | undefined;
  let directive: Token[] | undefined;
  let depth = 0;
  let lastLine = 0;
  let expectsKey = true;
  for (const token of tokens) {
    const { Line, Text } = token;
    const isNewLine = Line > lastLine;
    lastLine = Line + Text.split('\n').length - 1;
    if (block === undefined) {
      block = { Keys: [], Tokens: new Map() };
      blocks.push(block);
    }
    if (depth === 0) {
      if (isNewLine && !expectsKey) return undefined;
      if (Text === '{') depth = 1;
      else block.Keys.push(Text.replace(/,$/, ''));
      expectsKey = Text.endsWith(',');
      continue;
    }
    if (depth === 1 && Text === '}') {
      [block, directive, depth, expectsKey] = [undefined, undefined, 0, true];
      continue;
    }
    if (depth === 1 && (isNewLine || directive === undefined) && Text !== '{') {
      directive = block.Tokens.get(Text) ?? [];
      block.Tokens.set(Text, directive);
    }
    if (Text === '{') depth += 1;
    if (Text === '}') depth -= 1;
    directive?.push(token);
  }
  return blocks;
}

/** As encoding/json: sorted keys, and no signs of HTML. */
function goJson(blocks: readonly Block[]): string {
  const plain = blocks.map(({ Keys, Tokens }) => ({
    Keys,
    Tokens: Object.fromEntries([...Tokens].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }));
  return JSON.stringify(plain).replaceAll(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
