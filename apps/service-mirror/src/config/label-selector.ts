import { isLabelKey, isLabelValue } from '@kube-semaphore/naming';
import { bad, good, type Parsed } from '@kube-semaphore/net';

type Labels = Readonly<Record<string, string>>;

/** One condition on labels. */
type Requirement =
  | { readonly kind: 'exists' | 'absent'; readonly key: string }
  | { readonly kind: 'in' | 'not-in'; readonly key: string; readonly values: readonly string[] }
  | { readonly kind: 'above' | 'below'; readonly key: string; readonly bound: number };

/** Conditions that labels must all meet; without conditions, it selects everything. */
export type LabelSelector = readonly Requirement[];

const KEY = '([^\\s=!(),<>]+)';
// A comma inside parentheses separates values.
const BETWEEN_REQUIREMENTS = /,(?![^(]*\))/;
const PRESENCE = new RegExp(`^(!?)\\s*${KEY}$`);
const COMPARISON = new RegExp(`^${KEY}\\s*(==?|!=|[<>])\\s*([^\\s=!(),<>]*)$`);
const MEMBERSHIP = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const MAX_EXCERPT = 80;

/**
 * Parses a label selector as API servers do (apimachinery's labels.Parse): `k=v`, `k==v`, `k!=v`, `k in (a,b)`,
 * `k notin (a,b)`, `k`, `!k`, and `k>1`, `k<1` for numbers; a comma is an "and". An empty text selects everything.
 */
export function parseLabelSelector(text: string): Parsed<LabelSelector> {
  if (text.trim() === '') return good([]);
  const selector: Requirement[] = [];
  for (const part of text.split(BETWEEN_REQUIREMENTS)) {
    const requirement = parseRequirement(part.trim());
    if (!requirement.ok) return requirement;
    selector.push(requirement.value);
  }
  return good(selector);
}

/** Whether labels meet all conditions. Labels without the key meet `k!=v` and `k notin (v)`. */
export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  return selector.every((requirement) =>
    isMet(requirement, Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined),
  );
}

function parseRequirement(text: string): Parsed<Requirement> {
  if (text === '') return bad('a label selector must not have a comma without a condition on each side');
  const [, not, presentKey] = PRESENCE.exec(text) ?? [];
  if (presentKey !== undefined) return checked({ kind: not === '!' ? 'absent' : 'exists', key: presentKey });
  const [, comparedKey, operator, value = ''] = COMPARISON.exec(text) ?? [];
  if (comparedKey !== undefined && (operator === '<' || operator === '>'))
    return checkedBound(comparedKey, operator, value);
  if (comparedKey !== undefined)
    return checked({ kind: operator === '!=' ? 'not-in' : 'in', key: comparedKey, values: [value] });
  const [, memberKey, word, list = ''] = MEMBERSHIP.exec(text) ?? [];
  if (memberKey === undefined)
    return bad(`${excerpt(text)} is not a valid condition: it must be like k=v, k!=v, k in (a,b), k or !k`);
  if (list.trim() === '') return bad(`${excerpt(text)} has no values`);
  return checked({
    kind: word === 'in' ? 'in' : 'not-in',
    key: memberKey,
    values: list.split(',').map((each) => each.trim()),
  });
}

function checked(requirement: Requirement): Parsed<Requirement> {
  if (!isLabelKey(requirement.key)) return bad(`${excerpt(requirement.key)} is not a valid label key`);
  const wrong = 'values' in requirement ? requirement.values.find((value) => !isLabelValue(value)) : undefined;
  return wrong === undefined ? good(requirement) : bad(`${excerpt(wrong)} is not a valid label value`);
}

function checkedBound(key: string, operator: '<' | '>', value: string): Parsed<Requirement> {
  if (!/^\d+$/.test(value)) return bad(`${excerpt(value)} is not a valid number for label ${excerpt(key)}`);
  return checked({ kind: operator === '>' ? 'above' : 'below', key, bound: Number(value) });
}

function isMet(requirement: Requirement, value: string | undefined): boolean {
  switch (requirement.kind) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'not-in':
      return value === undefined || !requirement.values.includes(value);
    case 'above':
      return isNumber(value) && Number(value) > requirement.bound;
    case 'below':
      return isNumber(value) && Number(value) < requirement.bound;
  }
}

const isNumber = (value: string | undefined): boolean => /^-?\d+$/.test(value ?? '');

function excerpt(text: string): string {
  return JSON.stringify(text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text);
}
