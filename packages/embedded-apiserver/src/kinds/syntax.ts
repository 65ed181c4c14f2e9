const label = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const labelValue = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** RFC 1123, as Namespaces are called: at most 63 characters. */
export const isDnsLabel = (text: string): boolean => label.test(text);

/** RFC 1035, as Services are called: a label that begins with a letter. */
export const isServiceName = (text: string): boolean => label.test(text) && /^[a-z]/.test(text);

/** As most objects are called: at most 253 characters. */
export const isDnsSubdomain = (text: string): boolean => text.length <= 253 && subdomain.test(text);

/** What a label may hold, also nothing. */
export const isLabelValue = (text: string): boolean => labelValue.test(text);

/** As keys of labels are: a name, or `domain/name`. */
export function isQualifiedName(text: string): boolean {
  const [name = '', prefix, ...rest] = text.split('/').toReversed();
  return rest.length === 0 && name !== '' && isLabelValue(name) && (prefix === undefined || isDnsSubdomain(prefix));
}
