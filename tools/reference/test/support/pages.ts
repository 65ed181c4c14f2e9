import { readFileSync } from 'node:fs';
import { type Block, readMarkdown } from '../../src/docs/markdown.ts';

/** The blocks of a page in docs/, in order. */
export const blocksOf = (page: string): readonly Block[] => readMarkdown(readFileSync(`docs/${page}`, 'utf8')).blocks;

/** What a command needs besides two clusters: kind, Calico, or Pods to enter. */
type Need = 'kind' | 'calico' | 'pods';

/**
 * The commands of some sections of a page, without those that need something else.
 *
 * @param has what there is besides
 * @throws {Error} if a section has no such command
 */
export function commandsIn(page: string, headings: readonly string[], has: readonly Need[] = []): string {
  const takes: readonly string[] = ['', ...has];
  const blocks = blocksOf(page).filter((block) => block.language === 'sh' && takes.includes(block.takes));
  return headings
    .flatMap((heading) => {
      const own = blocks.filter((block) => block.heading === heading);
      if (own.length === 0) throw new Error(`docs/${page} has no commands under "${heading}"`);
      return own.map(({ text }) => text);
    })
    .join('\n');
}

/**
 * The commands of a section that enter Pods.
 *
 * @throws {Error} if there are none
 */
export function commandsInPods(page: string, heading: string): string {
  const blocks = blocksOf(page).filter((block) => block.heading === heading && block.takes === 'pods');
  if (blocks.length === 0) throw new Error(`docs/${page} enters no Pod under "${heading}"`);
  return blocks.map(({ text }) => text).join('\n');
}
