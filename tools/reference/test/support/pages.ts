import { readFileSync } from 'node:fs';
import { type Block, readMarkdown } from '../../src/docs/markdown.ts';

/** The blocks of a page in docs/, in order. */
export const blocksOf = (page: string): readonly Block[] => readMarkdown(readFileSync(`docs/${page}`, 'utf8')).blocks;

/**
 * The commands of some sections of a page, without those that need kind, Calico, Pods to enter, or start a registry.
 *
 * @throws {Error} if a section has no such command
 */
export function commandsIn(page: string, headings: readonly string[]): string {
  const blocks = blocksOf(page).filter((block) => block.language === 'sh' && block.takes === '');
  return headings
    .flatMap((heading) => {
      const own = blocks.filter((block) => block.heading === heading);
      if (own.length === 0) throw new Error(`docs/${page} has no commands under "${heading}"`);
      return own.map(({ text }) => text);
    })
    .join('\n');
}
