import { parser } from '@prometheus-io/lezer-promql';

export type Matcher = { readonly label: string; readonly operator: string; readonly value: string };

/** A selector in a query, such as `up{job="x"}`. */
type Selector = { readonly series: string; readonly matchers: readonly Matcher[] };

export type Uses = {
  readonly selectors: readonly Selector[];
  /** The labels that results are grouped or joined by. */
  readonly groupings: readonly string[];
};

/** A piece of a query, named as in Prometheus' own grammar. */
type Node = ReturnType<typeof parser.parse>['topNode'];

/** Functions that write labels, which the tests can't follow. */
const OPAQUE = new Set(['label_replace', 'label_join', 'info']);

/**
 * The series and the labels that a PromQL query names, in its order. Types of arguments are for promtool to check.
 *
 * @throws {SyntaxError} if it isn't PromQL, or selects series without a name
 */
export function usesOf(query: string): Uses {
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  const textOf = ({ from, to }: Node): string => unquoted(query.slice(from, to));
  const matcherOf = (matcher: Node): Matcher => {
    const [label = '', operator = '', value = ''] = childrenOf(matcher).map(textOf);
    return { label, operator, value };
  };
  const selectorOf = (selector: Node): Selector => {
    const name = selector.getChild('Identifier');
    if (name === null) throw new SyntaxError(`series without a name: ${query}`);
    const matchers = selector.getChild('LabelMatchers');
    return { series: textOf(name), matchers: matchers === null ? [] : childrenOf(matchers).map(matcherOf) };
  };
  parser.parse(query).iterate({
    enter({ type, from, node }) {
      if (type.isError) throw new SyntaxError(`not PromQL: ${query.slice(from) || `${query} ends too early`}`);
      if (type.name === 'VectorSelector') selectors.push(selectorOf(node));
      if (type.name === 'GroupingLabels') groupings.push(...childrenOf(node).map(textOf));
      if (type.name === 'FunctionIdentifier' && OPAQUE.has(textOf(node))) {
        throw new SyntaxError(`labels from ${textOf(node)} can't be checked: ${query}`);
      }
    },
  });
  return { selectors, groupings };
}

/** The grammar allows a comment between any two pieces. */
function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name !== 'LineComment') children.push(child);
  }
  return children;
}

/** Supports only escapes of a character for itself. */
function unquoted(text: string): string {
  if (text.startsWith('`')) return text.slice(1, -1);
  return /^["']/.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text;
}
