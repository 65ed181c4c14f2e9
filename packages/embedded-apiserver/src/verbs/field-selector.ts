import { bad, good, type Parsed } from '@kube-semaphore/net';

/** Whether an object with these field values is selected. */
export type FieldSelector = (fields: Readonly<Record<string, string>>) => boolean;

/**
 * Reads a fieldSelector: `a=b`, `a==b` and `a!=b`, separated by commas, all of which must match.
 *
 * @param supported the fields that the kind has selectors for
 */
export function parseFieldSelector(text: string, supported: readonly string[]): Parsed<FieldSelector> {
  const terms: FieldSelector[] = [];
  for (const part of text === '' ? [] : text.split(',')) {
    const [, field, sign, value = ''] = /^([^=!]+)(==|=|!=)(.*)$/.exec(part) ?? [];
    if (field === undefined) return bad(`invalid selector: '${text}'; can't understand '${part}'`);
    if (!supported.includes(field)) return bad(`field label not supported: ${field}`);
    terms.push((fields) => (fields[field] === value) === (sign !== '!='));
  }
  return good((fields) => terms.every((term) => term(fields)));
}
