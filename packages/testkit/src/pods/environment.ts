import type { Container } from './pod-spec.ts';

/** What the downward API tells of a Pod, by the path of the field: `metadata.name`, `status.podIP`. */
export type Fields = Readonly<Record<string, string>>;

/** A Pod that has been given to a node. */
export type PodFacts = {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly nodeName: string;
  readonly serviceAccountName: string;
  /** The primary one first; of a Pod in its node's network those of the node. */
  readonly ips: readonly string[];
  readonly hostIPs: readonly string[];
};

/** Its fields, as far as manifests ask for any. */
export function fieldsOf({ name, namespace, uid, nodeName, serviceAccountName, ips, hostIPs }: PodFacts): Fields {
  return {
    'metadata.name': name,
    'metadata.namespace': namespace,
    'metadata.uid': uid,
    'spec.nodeName': nodeName,
    'spec.serviceAccountName': serviceAccountName,
    'status.podIP': ips[0] ?? '',
    'status.podIPs': ips.join(','),
    'status.hostIP': hostIPs[0] ?? '',
    'status.hostIPs': hostIPs.join(','),
  };
}

/** The value of a field. @throws {Error} if a kubelet here doesn't know it */
export function fieldAt(fields: Fields, path: string): string {
  const value = fields[path];
  if (value === undefined) throw new Error(`the downward API here has no ${path}`);
  return value;
}

/**
 * The variables of a container: what every container has, and then its own in their order, each of which may name those
 * before it as `$(NAME)`.
 *
 * @param given what every container has, such as KUBERNETES_SERVICE_HOST
 */
export function variablesOf(
  { env = [] }: Container,
  fields: Fields,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const variables: Record<string, string> = { ...given };
  for (const { name, value = '', valueFrom } of env) {
    if (valueFrom !== undefined && valueFrom.fieldRef === undefined)
      throw new Error(`variable ${name} has a source that is not known here`);
    variables[name] =
      valueFrom?.fieldRef === undefined ? expand(value, variables) : fieldAt(fields, valueFrom.fieldRef.fieldPath);
  }
  return variables;
}

/** Puts variables in the place of `$(NAME)`, as Kubernetes does: a name that nobody has stays, and `$$(NAME)` is `$(NAME)`. */
export function expand(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (match, name: string | undefined) => {
    if (name === undefined) return '$';
    return variables[name] ?? match;
  });
}
