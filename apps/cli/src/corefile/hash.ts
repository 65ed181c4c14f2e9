import { createHash } from 'node:crypto';
import type { Token } from './lexer.ts';
import { type Corefile, hasVariable, parseCorefile } from './parse.ts';

/**
 * The hashes by which the plugin reload of CoreDNS may call this Corefile in its metrics; undefined if other files or variables
 * belong to it. By `parse` in plugin/reload/reload.go, it is the JSON of what caddyfile.Parse returns; in old releases, the file.
 */
export function corefileHashes(corefile: string): ReadonlySet<string> | undefined {
  const parsed = parseCorefile(corefile);
  if (!parsed.ok || hasForeignParts(parsed.value)) return undefined;
  const texts = [goJson(parsed.value), corefile];
  const hashesBy = (algorithm: string) => texts.map((text) => createHash(algorithm).update(text).digest('hex'));
  return new Set(['sha512', 'md5'].flatMap(hashesBy));
}

const hasForeignParts = ({ blocks, files }: Corefile): boolean =>
  files.length > 0 ||
  blocks.some(
    ({ keys, directives, files: ofBlock }) =>
      ofBlock.length > 0 ||
      [...keys, ...directives.flatMap(({ tokens }) => tokens)].some(({ text }) => hasVariable(text)),
  );

/** As encoding/json: sorted keys, and no signs of HTML. */
function goJson({ blocks }: Corefile): string {
  const plain = blocks.map(({ keys, directives }) => {
    const byName = Map.groupBy(directives, ({ name }) => name);
    const names = [...byName.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    return {
      Keys: keys.map(({ text }) => text),
      Tokens: Object.fromEntries(
        names.map((name) => [name, byName.get(name)!.flatMap(({ tokens }) => tokens.map(tokenOf))]),
      ),
    };
  });
  return JSON.stringify(plain).replaceAll(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const tokenOf = ({ text, line }: Token) => ({ File: '', Line: line, Text: text });
