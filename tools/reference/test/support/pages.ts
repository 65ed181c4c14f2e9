import { readFileSync } from 'node:fs';
import { type Block, readMarkdown } from '../../src/docs/markdown.ts';

/** The blocks of a page in docs/, in order. */
export const blocksOf = (page: string): readonly Block[] => readMarkdown(readFileSync(`docs/${page}`, 'utf8')).blocks;

/**
 * The commands of some sections of a page, without those that need kind, or running Pods.
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

/**
 * The program and its arguments in the first `kubectl exec` of a section.
 *
 * @throws {Error} if there is none
 */
export function wordsInPod(page: string, heading: string): readonly [program: string, ...args: string[]] {
  const blocks = blocksOf(page).filter((block) => block.heading === heading && block.takes === 'pods');
  const [, words] =
    blocks.map(({ text }) => /^kubectl .* exec .* -- (.*)$/m.exec(text)).find((match) => match !== null) ?? [];
  const [program, ...args] = words?.split(' ') ?? [];
  if (program === undefined) throw new Error(`docs/${page} has no kubectl exec under "${heading}"`);
  return [program, ...args];
}
