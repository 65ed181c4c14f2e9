import { readFileSync } from 'node:fs';
import { type Block, readMarkdown } from '../../src/docs/markdown.ts';

/** The blocks of a page in docs/, in order. */
export const blocksOf = (page: string): readonly Block[] => readMarkdown(readFileSync(`docs/${page}`, 'utf8')).blocks;

/**
 * What a reader types who goes through sections of a page, but for what takes kind, or Pods that really run.
 *
 * @throws {Error} if a section has no such command
 */
export function commandsIn(page: string, headings: readonly string[]): string {
  const blocks = blocksOf(page).filter(({ language, takes }) => language === 'sh' && takes === '');
  return headings
    .flatMap((heading) => {
      const own = blocks.filter((block) => block.heading === heading);
      if (own.length === 0) throw new Error(`docs/${page} has no commands under "${heading}"`);
      return own.map(({ text }) => text);
    })
    .join('\n');
}
