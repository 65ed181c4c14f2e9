import type { LabelSelector } from '@kube-semaphore/kube-objects';
import { compareText } from '@kube-semaphore/naming';
import type { StringMap } from '../string-map.ts';

/** Whether labels match a selector. */
export type CalicoSelector = {
  readonly matches: (labels: StringMap) => boolean;
  /** The label keys that it names. */
  readonly keys: ReadonlySet<string>;
};

/** Labels, texts, operators, and the words that look like functions. */
const TOKEN = new RegExp(
  `\\s*(?:${[
    /(has|all|global)\s*\(\s*([A-Za-z0-9_./-]*)\s*\)/,
    /(==|!=|&&|\|\||[!(){},])/,
    /(not\s+in|in|contains|starts\s+with|ends\s+with)(?![A-Za-z0-9_./-])/,
    /'([^']*)'|"([^"]*)"|([A-Za-z0-9_./-]+)/,
  ]
    .map(({ source }) => source)
    .join('|')})`,
  'y',
);

type Token = {
  readonly kind: 'call' | 'sign' | 'word' | 'text' | 'label';
  readonly text: string;
  readonly argument: string;
};

function tokensOf(raw: string): Token[] | undefined {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let rest = raw.trimEnd(); TOKEN.lastIndex < rest.length;) {
    const [, call, argument = '', sign, word, single, double, label] = TOKEN.exec(rest) ?? [];
    if (call !== undefined) tokens.push({ kind: 'call', text: call, argument });
    else if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, argument });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.replaceAll(/\s+/g, ' '), argument });
    else if (label !== undefined) tokens.push({ kind: 'label', text: label, argument });
    else if (single !== undefined || double !== undefined)
      tokens.push({ kind: 'text', text: single ?? double ?? '', argument });
    else return undefined;
  }
  return tokens;
}

class SyntaxProblem extends Error {}

type Matches = CalicoSelector['matches'];

/** A recursive descent over the tokens of one selector. */
class Parser {
  readonly keys = new Set<string>();
  readonly #tokens: Token[];
  readonly #all: Matches;
  readonly #global: Matches;

  constructor(tokens: Token[], { all, global }: { readonly all: boolean; readonly global: boolean }) {
    this.#tokens = tokens;
    this.#all = () => all;
    this.#global = () => global;
  }

  whole(): Matches {
    const matches = this.#or();
    if (this.#tokens.length > 0) throw new SyntaxProblem();
    return matches;
  }

  #or(): Matches {
    const parts = [this.#and()];
    while (this.#take('sign', '||')) parts.push(this.#and());
    return (labels) => parts.some((part) => part(labels));
  }

  #and(): Matches {
    const parts = [this.#operand()];
    while (this.#take('sign', '&&')) parts.push(this.#operand());
    return (labels) => parts.every((part) => part(labels));
  }

  #operand(): Matches {
    if (this.#take('sign', '!')) {
      const inner = this.#operand();
      return (labels) => !inner(labels);
    }
    if (this.#take('sign', '(')) {
      const inner = this.#or();
      this.#need('sign', ')');
      return inner;
    }
    const token = this.#tokens.shift();
    if (token?.kind === 'call') return this.#call(token);
    if (token?.kind !== 'label') throw new SyntaxProblem();
    return this.#comparison(token.text);
  }

  #call({ text, argument }: Token): Matches {
    if (text === 'all') return this.#all;
    if (text === 'global') return this.#global;
    this.keys.add(argument);
    return (labels) => Object.hasOwn(labels, argument);
  }

  /** As in Calico, `!=` and `not in` match an object without the label, and the other operators don't. */
  #comparison(key: string): Matches {
    this.keys.add(key);
    const operator = this.#tokens.shift()?.text;
    const valueOf = (labels: StringMap): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
    if (operator === 'in' || operator === 'not in') {
      const values = this.#values();
      return (labels) => values.includes(valueOf(labels)) === (operator === 'in');
    }
    const text = this.#need('text');
    switch (operator) {
      case '==':
        return (labels) => valueOf(labels) === text;
      case '!=':
        return (labels) => valueOf(labels) !== text;
      case 'contains':
        return (labels) => valueOf(labels)?.includes(text) === true;
      case 'starts with':
        return (labels) => valueOf(labels)?.startsWith(text) === true;
      case 'ends with':
        return (labels) => valueOf(labels)?.endsWith(text) === true;
      default:
        throw new SyntaxProblem();
    }
  }

  #values(): readonly (string | undefined)[] {
    const values: string[] = [];
    this.#need('sign', '{');
    while (!this.#take('sign', '}')) {
      values.push(this.#need('text'));
      this.#take('sign', ',');
    }
    return values;
  }

  #take(kind: Token['kind'], text?: string): Token | undefined {
    const [token] = this.#tokens;
    return token?.kind === kind && (text === undefined || token.text === text) ? this.#tokens.shift() : undefined;
  }

  #need(kind: Token['kind'], text?: string): string {
    const token = this.#take(kind, text);
    if (token === undefined) throw new SyntaxProblem();
    return token.text;
  }
}

/**
 * Reads a selector of a Calico policy: docs.tigera.io, "Selectors" of NetworkPolicy.
 *
 * @param functions what `all()` and `global()` mean for the objects that it is compared with
 * @returns undefined if it is not valid
 */
export function parseCalicoSelector(
  raw: string,
  functions: { readonly all: boolean; readonly global: boolean },
): CalicoSelector | undefined {
  const tokens = tokensOf(raw);
  if (tokens === undefined) return undefined;
  const parser = new Parser(tokens, functions);
  try {
    return { matches: parser.whole(), keys: parser.keys };
  } catch (error) {
    if (error instanceof SyntaxProblem) return undefined;
    throw error;
  }
}

/** What a selector of Kubernetes demands, as k8sSelectorToCalico of libcalico-go/lib/backend/k8s/conversion writes it. */
export function calicoTerms({ matchLabels, matchExpressions }: LabelSelector): readonly string[] {
  const labels = Object.entries(matchLabels)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, value]) => `${key} == '${value}'`);
  const expressions = matchExpressions.map(({ key, operator, values }) => {
    const list = `{ '${values.join("', '")}' }`;
    if (operator === 'In') return `${key} in ${list}`;
    if (operator === 'NotIn') return `${key} not in ${list}`;
    return operator === 'Exists' ? `has(${key})` : `! has(${key})`;
  });
  return [...labels, ...expressions];
}
