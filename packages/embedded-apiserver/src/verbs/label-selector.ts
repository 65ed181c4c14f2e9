import { bad, good, type Parsed } from '@kube-semaphore/net';

/** Whether an object with these labels is selected. */
export type LabelSelector = (labels: Readonly<Record<string, string>>) => boolean;

/** A comma between requirements, not within the parentheses of a set. */
const separator = /,(?![^(]*\))/;
const setBased = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const equality = /^([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)$/;
const existence = /^(!?)\s*([^\s=!(),]+)$/;

/**
 * Reads a labelSelector: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`, all of which must match.
 * `!=` and `notin` also select objects that lack the label.
 */
export function parseLabelSelector(text: string): Parsed<LabelSelector> {
  const requirements: LabelSelector[] = [];
  for (const part of text.trim() === '' ? [] : text.split(separator)) {
    const requirement = parseRequirement(part.trim());
    if (!requirement) return bad(`unable to parse requirement: ${part}`);
    requirements.push(requirement);
  }
  return good((labels) => requirements.every((requirement) => requirement(labels)));
}

function parseRequirement(text: string): LabelSelector | undefined {
  const [, setKey, operator, list] = setBased.exec(text) ?? [];
  if (setKey !== undefined) {
    const values = new Set(list!.split(',').map((value) => value.trim()));
    return oneOf(setKey, values, operator === 'in');
  }
  const [, key, sign, value] = equality.exec(text) ?? [];
  if (key !== undefined) return oneOf(key, new Set([value!]), sign !== '!=');
  const [, not, existing] = existence.exec(text) ?? [];
  if (existing !== undefined) return (labels) => Object.hasOwn(labels, existing) === (not === '');
  return undefined;
}

const oneOf =
  (key: string, values: ReadonlySet<string>, wanted: boolean): LabelSelector =>
  (labels) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return (value !== undefined && values.has(value)) === wanted;
  };
