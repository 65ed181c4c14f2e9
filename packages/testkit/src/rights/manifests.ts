import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject, PolicyRule } from '@kube-semaphore/embedded-apiserver';
import { parseAllDocuments } from 'yaml';

/** Rules, and their namespace; undefined: all namespaces. */
export type Grant = { readonly namespace: string | undefined; readonly rules: readonly PolicyRule[] };

/** The rights of one service account in deploy/. */
export type Rights = {
  readonly account: { readonly namespace: string; readonly name: string };
  /** The account, its roles and their bindings, unchanged, without Secrets. */
  readonly objects: readonly KubeObject[];
  /** One for each role. */
  readonly grants: readonly Grant[];
};

type Reference = { readonly kind: string; readonly name: string; readonly namespace?: string };
type Binding = KubeObject & { readonly roleRef: Reference; readonly subjects: readonly Reference[] };

const isRole = ({ kind }: KubeObject): boolean => kind === 'Role' || kind === 'ClusterRole';
const isBinding = (object: KubeObject): object is Binding => object.kind.endsWith('RoleBinding');

/**
 * Reads the rbac.yaml of folders of deploy/, such as `policy/base`: a base or a remote, and components of it.
 *
 * @throws {Error} unless there is exactly one account, and each role is bound to it alone
 */
export function deployedRights(...folders: readonly string[]): Rights {
  const objects = folders.flatMap((folder) => manifestsIn(folder)).filter(({ kind }) => kind !== 'Secret');
  const [account, ...others] = objects.filter(({ kind }) => kind === 'ServiceAccount').map(({ metadata }) => metadata);
  if (account?.namespace === undefined || others.length > 0)
    throw new Error(`${folders.join(', ')}: must have exactly one service account, with a namespace`);
  const { name, namespace } = account;
  const grants = objects.filter(isRole).map((role) => {
    const bindings = objects.filter(isBinding).filter((binding) => binds(binding, role));
    const subjects = bindings.flatMap((binding) => binding.subjects);
    const isTheAccount = (subject: Reference): boolean =>
      subject.kind === 'ServiceAccount' && subject.name === name && subject.namespace === namespace;
    if (subjects.length !== 1 || !subjects.every(isTheAccount))
      throw new Error(`${folders.join(', ')}: ${role.kind} ${role.metadata.name} must be bound to ${name} alone`);
    return { namespace: role.metadata.namespace, rules: role['rules'] as readonly PolicyRule[] };
  });
  return { account: { namespace, name }, objects, grants };
}

/** The admission policies for the account of a folder of deploy/ (such as `own-objects-policy.yaml`), with bindings. */
export function deployedPolicies(folder: string): readonly KubeObject[] {
  return readdirSync(pathOf(folder))
    .filter((file) => file.endsWith('-policy.yaml'))
    .flatMap((file) => manifestsIn(folder, file));
}

/** The CustomResourceDefinitions in a folder of deploy/, such as `service-mirror/mcs`. */
export const deployedCrds = (folder: string): readonly KubeObject[] =>
  readdirSync(pathOf(folder))
    .flatMap((file) => manifestsIn(folder, file))
    .filter(({ kind }) => kind === 'CustomResourceDefinition');

/** All rules, of any namespace. */
export const rulesOf = ({ grants }: Pick<Rights, 'grants'>): readonly PolicyRule[] =>
  grants.flatMap(({ rules }) => rules);

function manifestsIn(folder: string, file = 'rbac.yaml'): readonly KubeObject[] {
  return parseAllDocuments(readFileSync(join(pathOf(folder), file), 'utf8')).map(
    (document) => document.toJS() as KubeObject,
  );
}

const pathOf = (folder: string): string => fileURLToPath(new URL(`../../../../deploy/${folder}`, import.meta.url));

/** Whether a binding binds a role; a RoleBinding and its Role share a namespace. */
function binds({ kind, metadata, roleRef }: Binding, role: KubeObject): boolean {
  return (
    roleRef.kind === role.kind &&
    roleRef.name === role.metadata.name &&
    kind === `${role.kind}Binding` &&
    metadata.namespace === role.metadata.namespace
  );
}
