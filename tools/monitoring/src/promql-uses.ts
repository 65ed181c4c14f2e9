import { type Token, tokensOf } from './promql-tokens.ts';

export type Matcher = { readonly label: string; readonly operator: string; readonly value: string };

/** `up{job="x"}`, wherever it stands. */
type Selector = { readonly series: string; readonly matchers: readonly Matcher[] };

export type Uses = {
  readonly selectors: readonly Selector[];
  /** The labels that results are grouped or joined by. */
  readonly groupings: readonly string[];
};

/** What is followed by labels in parentheses. */
const GROUPINGS = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);
const OPERATORS = new Set(['and', 'or', 'unless', 'atan2', 'bool', 'offset', 'start', 'end', 'inf', 'nan']);

/** They make labels out of texts, which nobody here can follow. */
const OPAQUE = new Set(['label_replace', 'label_join', 'info']);

/**
 * The series and the labels that a PromQL query names.
 *
 * @throws {SyntaxError} if it is none, or selects series other than by their name
 */
export function usesOf(query: string): Uses {
  const tokens = tokensOf(query);
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const { kind, text } = tokens[i]!;
    const follows = (sign: string): boolean => isSign(tokens[i + 1], sign);
    if (kind === 'sign' && text === '{') throw new SyntaxError(`series without a name: ${query}`);
    if (kind !== 'name' || OPERATORS.has(text.toLowerCase())) continue;
    if (OPAQUE.has(text)) throw new SyntaxError(`labels that ${text} makes can't be checked: ${query}`);
    if (GROUPINGS.has(text)) {
      if (!follows('(')) continue;
      const end = endOf(tokens, i + 1, ')');
      groupings.push(...namesIn(tokens.slice(i + 2, end)));
      i = end;
    } else if (follows('{')) {
      const end = endOf(tokens, i + 1, '}');
      selectors.push({ series: text, matchers: matchersIn(tokens.slice(i + 2, end)) });
      i = end;
    } else if (!follows('(') && !isGrouping(tokens[i + 1])) selectors.push({ series: text, matchers: [] });
  }
  return { selectors, groupings };
}

const isSign = (token: Token | undefined, sign: string): boolean => token?.kind === 'sign' && token.text === sign;

/** After an aggregation: `sum by (job) (…)`. */
const isGrouping = (token: Token | undefined): boolean => token?.kind === 'name' && (token.text === 'by' || token.text === 'without');

function endOf(tokens: readonly Token[], start: number, sign: string): number {
  const end = tokens.findIndex((token, i) => i > start && isSign(token, sign));
  if (end === -1) throw new SyntaxError(`no ${sign} where one is due`);
  return end;
}

const namesIn = (tokens: readonly Token[]): readonly string[] => tokens.filter(({ kind }) => kind === 'name').map(({ text }) => text);

/** `label="value"`, with commas in between. */
function matchersIn(tokens: readonly Token[]): readonly Matcher[] {
  const matchers: Matcher[] = [];
  for (let i = 0; i < tokens.length; i += 4) {
    const [label, operator, value, comma] = tokens.slice(i, i + 4);
    const isWhole = label?.kind === 'name' && operator?.kind === 'sign' && value?.kind === 'text' && (comma === undefined || isSign(comma, ','));
    if (!isWhole) throw new SyntaxError(`no matcher: ${tokens.map(({ text }) => text).join(' ')}`);
    matchers.push({ label: label.text, operator: operator.text, value: value.text });
  }
  return matchers;
}
