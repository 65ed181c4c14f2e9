/** A fenced block of a page. */
export type Block = {
  /** The first word after the fence: `sh`, `yaml`, or empty. */
  readonly language: string;
  /** The second word, for tests: the requirement to run the block. */
  readonly takes: string;
  /** The heading of its section. */
  readonly heading: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  /** Its content, without the indentation of the fence. */
  readonly text: string;
};

/** The parts of a page that tests check. */
export type Markdown = {
  readonly blocks: readonly Block[];
  /** The targets of its links and images, in order. */
  readonly links: readonly string[];
  /** The anchors that GitHub makes. */
  readonly anchors: ReadonlySet<string>;
};

const FENCE = /^( *)```(\S*) *(\S*)$/;
const HEADING = /^#+ (.*)$/;
/** `](target)` and `](target "title")`; in HTML `src="target"` and `srcset="target"`. */
const LINK = /\]\(([^)\s]+)(?: "(?:[^"\\]|\\.)*")?\)|\bsrc(?:set)?="([^"\s]+)"/g;

type Open = Omit<Block, 'text'> & { readonly indentation: string; readonly lines: string[] };

/**
 * Reads a page.
 *
 * @throws {Error} if a block isn't closed
 */
export function readMarkdown(text: string): Markdown {
  const blocks: Block[] = [];
  const prose: string[] = [];
  const headings: string[] = [];
  let open: Open | undefined;
  for (const [i, line] of text.split('\n').entries()) {
    const [fence, indentation = '', language = '', takes = ''] = FENCE.exec(line) ?? [];
    if (open === undefined && fence !== undefined) {
      open = { language, takes, heading: headings.at(-1) ?? '', line: i + 1, indentation, lines: [] };
    } else if (open !== undefined && line === `${open.indentation}\`\`\``) {
      blocks.push(closed(open));
      open = undefined;
    } else if (open === undefined) {
      const [, heading] = HEADING.exec(line) ?? [];
      if (heading !== undefined) headings.push(heading);
      prose.push(line);
    } else open.lines.push(line);
  }
  if (open !== undefined) throw new Error(`the block of line ${open.line} isn't closed`);
  return { blocks, links: linksIn(prose.join('\n')), anchors: anchorsOf(headings) };
}

function closed({ indentation, lines, ...block }: Open): Block {
  const text = lines.map((line) => (line.startsWith(indentation) ? line.slice(indentation.length) : line));
  return { ...block, text: `${text.join('\n')}\n` };
}

function linksIn(prose: string): readonly string[] {
  // Text in backticks is code.
  return Array.from(
    prose.replaceAll(/`[^`\n]+`/g, '`'.repeat(2)).matchAll(LINK),
    ([, target, source = '']) => target ?? source,
  );
}

function anchorsOf(headings: readonly string[]): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of headings) {
    const slug = slugOf(heading);
    let anchor = slug;
    for (let n = 1; anchors.has(anchor); n += 1) anchor = `${slug}-${n}`;
    anchors.add(anchor);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}
