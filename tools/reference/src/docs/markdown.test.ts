import { describe, expect, it } from 'vitest';
import { readMarkdown } from './markdown.ts';

describe('readMarkdown', () => {
  it('finds blocks with their heading, line and language', () => {
    const { blocks } = readMarkdown('# A\n\n```sh pods\nls\n```\n\n## B\n\n```\n# no heading\n```\n');
    expect(blocks).toEqual([
      { language: 'sh', takes: 'pods', heading: 'A', line: 3, text: 'ls\n' },
      { language: '', takes: '', heading: 'B', line: 9, text: '# no heading\n' },
    ]);
  });

  it('removes the indentation of blocks in a list', () => {
    const { blocks } = readMarkdown('1. x\n\n   ```sh\n   if a; then\n     b\n   fi\n   ```\n');
    expect(blocks).toMatchObject([{ text: 'if a; then\n  b\nfi\n' }]);
  });

  it('refuses a block that is not closed', () => {
    expect(() => readMarkdown('x\n```sh\nls\n')).toThrow('the block of line 2');
  });

  it('finds links, and none in code', () => {
    const { links } = readMarkdown('[a](b.md), `[c](d)` and\n[e](../f.md#g "its title (so)")\n```\n[h](i)\n```\n');
    expect(links).toEqual(['b.md', '../f.md#g']);
  });

  it('finds images in HTML', () => {
    const { links } = readMarkdown(
      '<picture>\n  <source srcset="dark.svg">\n  <img alt="a" src="light.svg">\n</picture>\n',
    );
    expect(links).toEqual(['dark.svg', 'light.svg']);
  });

  it.each([
    { heading: 'When things fail', anchor: 'when-things-fail' },
    { heading: 'Names in `CoreDNS`, twice', anchor: 'names-in-coredns-twice' },
    { heading: '[0.1.0]', anchor: '010' },
    { heading: 'A [link](x.md) in it', anchor: 'a-link-in-it' },
  ])('knows the anchor of $heading', ({ heading, anchor }) => {
    expect([...readMarkdown(`# ${heading}\n`).anchors]).toEqual([anchor]);
  });

  it('numbers the anchors of headings that repeat', () => {
    expect([...readMarkdown('# A\n# A\n# A\n').anchors]).toEqual(['a', 'a-1', 'a-2']);
  });
});
