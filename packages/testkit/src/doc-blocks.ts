import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The text of a page in docs/. */
export const docPage = (page: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../docs/${page}`, import.meta.url)), 'utf8');

/**
 * The code blocks of one language in a section of a page in docs/, in order, unchanged.
 *
 * @param heading the section's heading, of any level; the section ends at the next heading
 * @throws {Error} if the page has no such section, or the section no such block
 */
export function docBlocks(page: string, heading: string, language = 'sh'): readonly string[] {
  const blocks: string[] = [];
  let section: string | undefined;
  let block: { readonly language: string; readonly lines: string[] } | undefined;
  for (const line of docPage(page).split('\n')) {
    const [, title] = /^#+ (.*)$/.exec(line) ?? [];
    if (line.startsWith('```') && block === undefined) block = { language: line.slice(3), lines: [] };
    else if (line === '```' && block !== undefined) {
      if (section === heading && block.language === language) blocks.push(`${block.lines.join('\n')}\n`);
      block = undefined;
    } else if (block !== undefined) block.lines.push(line);
    else section = title ?? section;
  }
  if (blocks.length === 0) throw new Error(`docs/${page} has no section "${heading}" with a block of ${language}`);
  return blocks;
}
