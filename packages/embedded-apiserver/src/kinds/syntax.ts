const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** An RFC 1123 label, such as the name of a Namespace: at most 63 characters. */
export const isDnsLabel = (text: string): boolean => label.test(text);

/** An RFC 1035 label, such as the name of a Service: it begins with a letter. */
export const isServiceName = (text: string): boolean => label.test(text) && /^[a-z]/.test(text);

/** An RFC 1123 subdomain, such as the name of most objects: at most 253 characters. */
export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && subdomain.test(text);

/** The value of a label; it may be empty. */
export const isLabelValue = (text: string): boolean => labelValue.test(text);

/** The key of a label: a name, or `domain/name`. */
export function isQualifiedName(text: string): boolean {
  const [name = '', prefix, ...rest] = text.split('/').toReversed();
  return rest.length === 0 && name !== '' && isLabelValue(name) && (prefix === undefined || isDnsSubdomain(prefix));
}
