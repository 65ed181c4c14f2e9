import { isDnsSubdomain, isLabelValue, MAX_LABEL } from '@kube-semaphore/naming';
import { checkedText } from '@kube-semaphore/options';

/**
 * The name of a remote cluster: it begins the names of our objects and is the value of a label, so it is a DNS name of
 * at most 63 characters. Dots are allowed as in the Go programs.
 */
export const clusterName = checkedText('name', (raw) => {
  if (raw.length > MAX_LABEL) return `has ${raw.length} characters, ${MAX_LABEL} are allowed`;
  return isDnsSubdomain(raw) ? undefined : 'is not a name of lower-case letters, digits, "-" and "."';
});

/** `auto`, or the domain before the slash of our label keys. */
export const labelDomain = checkedText('auto|domain', (raw) => (isDnsSubdomain(raw) ? undefined : 'is not a domain'));

/** `auto`, or the value of a label. */
export const labelValue = checkedText('auto|value', (raw) =>
  isLabelValue(raw) ? undefined : `is not a label value: at most ${MAX_LABEL} letters, digits, "-", "_" and "."`,
);

/** A label key: a name, with a domain before it. */
export const labelKey = checkedText('key', (raw) => {
  const [domain = '', name, ...rest] = raw.split('/');
  const isKey = rest.length === 0 && isDnsSubdomain(domain) && name !== undefined && name !== '' && isLabelValue(name);
  return isKey ? undefined : 'is not a label key with a domain, such as example.org/name';
});

const KEY = String.raw`[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?`;
const VALUE = String.raw`([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?`;
const REQUIREMENT = String.raw`(!?${KEY}|${KEY}(=|==|!=)${VALUE}|${KEY} (in|notin) \(${VALUE}(, ?${VALUE})*\))`;
const SELECTOR = new RegExp(`^${REQUIREMENT}(, ?${REQUIREMENT})*$`);

/** A label selector as kubectl reads it. An API server would refuse a bad one, each time that it is asked. */
export const labelSelector = checkedText('selector', (raw) =>
  SELECTOR.test(raw) ? undefined : 'is not a label selector, such as app=web,tier in (a, b)',
);
