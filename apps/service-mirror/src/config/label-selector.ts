import { isLabelKey, isLabelValue } from '@kube-semaphore/naming';
import { bad, good, type Parsed } from '@kube-semaphore/net';

type Labels = Readonly<Record<string, string>>;

/** One condition that labels have to meet. */
type Requirement =
  | { readonly kind: 'exists' | 'absent'; readonly key: string }
  | { readonly kind: 'in' | 'not-in'; readonly key: string; readonly values: readonly string[] }
  | { readonly kind: 'above' | 'below'; readonly key: string; readonly bound: number };

/** Conditions that labels have to meet, all of them; one without conditions selects everything. */
export type LabelSelector = readonly Requirement[];

const KEY = '([^\\s=!(),<>]+)';
// A comma in brackets separates values.
const BETWEEN_REQUIREMENTS = /,(?![^(]*\))/;
const PRESENCE = new RegExp(`^(!?)\\s*${KEY}$`);
const COMPARISON = new RegExp(`^${KEY}\\s*(==?|!=|[<>])\\s*([^\\s=!(),<>]*)$`);
const MEMBERSHIP = new RegExp(`^${KEY}\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const MAX_EXCERPT = 80;

/**
 * Reads a label selector as API servers do (apimachinery's labels.Parse): `k=v`, `k==v`, `k!=v`, `k in (a,b)`,
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

/** Whether labels meet all conditions. `k!=v` and `k notin (v)` are met without the label, too. */
export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  return selector.every((requirement) =>
    isMet(requirement, Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined),
  );
}

function parseRequirement(text: string): Parsed<Requirement> {
  if (text === '') return bad('a label selector has nothing before or after a comma');
  const [, not, presentKey] = PRESENCE.exec(text) ?? [];
  if (presentKey !== undefined) return checked({ kind: not === '!' ? 'absent' : 'exists', key: presentKey });
  const [, comparedKey, operator, value = ''] = COMPARISON.exec(text) ?? [];
  if (comparedKey !== undefined && (operator === '<' || operator === '>'))
    return checkedBound(comparedKey, operator, value);
  if (comparedKey !== undefined)
    return checked({ kind: operator === '!=' ? 'not-in' : 'in', key: comparedKey, values: [value] });
  const [, memberKey, word, list = ''] = MEMBERSHIP.exec(text) ?? [];
  if (memberKey === undefined)
    return bad(`${excerpt(text)} is no condition of a label selector, such as k=v, k!=v, k in (a,b), k or !k`);
  if (list.trim() === '') return bad(`${excerpt(text)} has no values`);
  return checked({
    kind: word === 'in' ? 'in' : 'not-in',
    key: memberKey,
    values: list.split(',').map((each) => each.trim()),
  });
}

function checked(requirement: Requirement): Parsed<Requirement> {
  if (!isLabelKey(requirement.key)) return bad(`${excerpt(requirement.key)} is no key of a label`);
  const wrong = 'values' in requirement ? requirement.values.find((value) => !isLabelValue(value)) : undefined;
  return wrong === undefined ? good(requirement) : bad(`${excerpt(wrong)} is no value of a label`);
}

function checkedBound(key: string, operator: '<' | '>', value: string): Parsed<Requirement> {
  if (!/^\d+$/.test(value)) return bad(`${excerpt(value)} is no number to compare the label ${excerpt(key)} with`);
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
