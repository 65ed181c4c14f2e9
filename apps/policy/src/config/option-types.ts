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
