import { isAlias, isCollection, isPair, isScalar, LineCounter, parseDocument } from 'yaml';

/** Why a text can't be read as YAML. `message` may quote the text, which may contain a token; `code` never does. */
export type YamlProblem = {
  /** A code of the library, such as `DUPLICATE_KEY`, or `NESTING` or `ALIASES`, which have no place. */
  readonly code: string;
  readonly message: string;
  /** Both count from 1. */
  readonly place: { readonly line: number; readonly column: number } | undefined;
};

export type ParsedYaml =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: YamlProblem };

/** The library searches the whole document for the anchor of each alias. */
const MAX_ALIASES = 1_000;

/**
 * Parses one YAML document, or JSON, in linear time. The library would compare each key of a map with all others, which
 * takes two minutes for 1 MB of keys, so repeated keys are found here.
 */
export function parseYaml(source: string): ParsedYaml {
  const lines = new LineCounter();
  const at = (offset: number): YamlProblem['place'] => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  try {
    // Pretty errors would quote the line, and warnings a key that is a map, to stderr.
    const quiet = { prettyErrors: false, logLevel: 'error' } as const;
    const document = parseDocument(source, { ...quiet, uniqueKeys: false, lineCounter: lines });
    const [error] = document.errors;
    if (error?.code === 'RESOURCE_EXHAUSTION') return tooDeep;
    if (error !== undefined) return wrong(error.code, error.message, at(error.pos[0]));
    const { repeatedAt, aliases } = survey(document.contents);
    if (repeatedAt !== undefined) return wrong('DUPLICATE_KEY', 'Map keys must be unique', at(repeatedAt));
    const excess = `it has ${aliases} aliases, and at most ${MAX_ALIASES} are allowed`;
    if (aliases > MAX_ALIASES) return wrong('ALIASES', excess);
    return { ok: true, value: document.toJS() };
  } catch (error) {
    // The recursive parser has overflowed the stack.
    if (error instanceof RangeError) return tooDeep;
    // An alias has no anchor, or there are so many that they would fill the memory.
    return wrong('ALIASES', (error as Error).message);
  }
}

const wrong = (code: string, message: string, place?: YamlProblem['place']): ParsedYaml => ({
  ok: false,
  problem: { code, message, place },
});

const tooDeep = wrong('NESTING', 'it is nested too deeply');

type Survey = { repeatedAt: number | undefined; aliases: number };

/** Finds the first repeated key of a map, and counts the aliases, without following them. */
function survey(node: unknown, found: Survey = { repeatedAt: undefined, aliases: 0 }): Survey {
  if (isAlias(node)) found.aliases++;
  if (isPair(node)) {
    survey(node.key, found);
    survey(node.value, found);
  }
  if (!isCollection(node)) return found;
  const keys = new Set<unknown>();
  for (const item of node.items) {
    const key = isPair(item) ? item.key : undefined;
    if (isScalar(key)) {
      if (keys.has(key.value)) found.repeatedAt ??= key.range?.[0];
      keys.add(key.value);
    }
    survey(item, found);
  }
  return found;
}
