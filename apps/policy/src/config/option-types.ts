import { isDnsSubdomain, isLabelValue, MAX_LABEL } from '@kube-semaphore/naming';
import { bad, good } from '@kube-semaphore/net';
import type { OptionType } from '@kube-semaphore/options';

/**
 * The name of a remote cluster: it begins the names of our objects and is the value of a label, so it is a DNS name of
 * at most 63 characters. Dots are allowed as in the Go programs.
 */
export const clusterName: OptionType<string> = {
  label: 'name',
  format: String,
  parse(raw) {
    if (raw.length > MAX_LABEL) return bad(`${excerpt(raw)} has ${raw.length} characters, ${MAX_LABEL} are allowed`);
    return isDnsSubdomain(raw)
      ? good(raw)
      : bad(`${excerpt(raw)} is not a name of lower-case letters, digits, "-" and "."`);
  },
};

/** `auto`, or the domain before the slash of our label keys. */
export const labelDomain: OptionType<string> = {
  label: 'auto|domain',
  format: String,
  parse: (raw) => (isDnsSubdomain(raw) ? good(raw) : bad(`${excerpt(raw)} is not a domain`)),
};

/** `auto`, or the value of a label. */
export const labelValue: OptionType<string> = {
  label: 'auto|value',
  format: String,
  parse: (raw) =>
    isLabelValue(raw)
      ? good(raw)
      : bad(`${excerpt(raw)} is not a label value: at most ${MAX_LABEL} letters, digits, "-", "_" and "."`),
};

function excerpt(raw: string): string {
  return JSON.stringify(raw.length > 80 ? `${raw.slice(0, 80)}…` : raw);
}
