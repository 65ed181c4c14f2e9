/** The most characters of a label value, a DNS-1123 label, and the name part of a label key. */
export const MAX_LABEL = 63;

/** The most characters of an object's name. */
const MAX_NAME = 253;

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?$/;

/** A DNS-1123 label, such as the name of a namespace or cluster: `my-ns`, at most 63 characters. */
export function isDnsLabel(text: string): boolean {
  return text.length <= MAX_LABEL && DNS_LABEL.test(text);
}

/** A DNS-1035 label, as the name of a Service must be: a DNS-1123 label that begins with a letter. */
export function isServiceName(text: string): boolean {
  return isDnsLabel(text) && /^[a-z]/.test(text);
}

/**
 * A DNS-1123 subdomain, such as the name of most objects: `my-ns.my-app`, at most 253 characters. Its parts may be longer
 * than 63: apimachinery's IsDNS1123Subdomain and Calico only limit the whole name.
 */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= MAX_NAME && DNS_SUBDOMAIN.test(text);
}

/** A label's value (apimachinery's IsValidLabelValue): `My_App`, `v1.2`, or empty; at most 63 characters. */
export function isLabelValue(text: string): boolean {
  return text.length <= MAX_LABEL && LABEL_VALUE.test(text);
}

/** A qualified name of apimachinery: `name`, or `prefix/name` with a DNS subdomain before the slash. */
export function isLabelKey(text: string): boolean {
  const [name = '', prefix, ...rest] = text.split('/').toReversed();
  return name !== '' && isLabelValue(name) && (prefix === undefined || isDnsSubdomain(prefix)) && rest.length === 0;
}

/** The nearest valid object name; a valid one stays as it is. */
export function nearestName(plain: string): string {
  return (
    plain
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      // A dot must be between letters or digits.
      .replaceAll(/[.-]{2,}/g, (run) => (run.includes('.') ? '-' : run))
      .replaceAll(/^[.-]+|[.-]+$/g, '')
  );
}
