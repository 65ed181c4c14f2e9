import type { PolicyRule } from '@kube-semaphore/embedded-apiserver';
import type { AuditEvent } from '../real/audit.ts';
import type { Grant, Rights } from './manifests.ts';

/** One verb on one resource, with its namespace: `list services in sys-semaphore`, `patch nodes`. */
export type Right = string;

/** How an account used its rights; sorted, without duplicates. */
export type Use = {
  /** The rights without which a successful request would have been refused. */
  readonly needed: readonly Right[];
  /** The rights that refused requests lacked. */
  readonly refused: readonly Right[];
};

type Ask = {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | undefined;
};

/** All granted rights, sorted. */
export function rightsIn(grants: readonly Grant[]): readonly Right[] {
  const asksOf = (namespace: string | undefined, { apiGroups, resources, verbs }: PolicyRule): readonly Ask[] =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => ({ verb, group, resource, namespace }))),
    );
  return sorted(
    grants.flatMap(({ namespace, rules }) => rules.flatMap((rule) => asksOf(namespace, rule).map(rightOf))),
  );
}

/**
 * Compares the rights of an account with its requests in an audit log. RBAC only adds rights, so a right that alone
 * allowed a request is needed.
 */
export function useOf(events: readonly AuditEvent[], { account, grants }: Pick<Rights, 'account' | 'grants'>): Use {
  const username = `system:serviceaccount:${account.namespace}:${account.name}`;
  const own = events.filter(({ user }) => user.username === username);
  const given = new Set(rightsIn(grants));
  const allowing = (ask: Ask): readonly Right[] =>
    [...new Set([ask.namespace, undefined])]
      .map((namespace) => rightOf({ ...ask, namespace }))
      .filter((right) => given.has(right));
  const needed = own
    .filter(succeeded)
    .map(askOf)
    .map(allowing)
    .filter(({ length }) => length === 1);
  const refused = own
    .filter(({ responseStatus }) => responseStatus?.code === 403)
    .map(askOf)
    .map(rightOf);
  return { needed: sorted(needed.flat()), refused: sorted(refused) };
}

function askOf({ verb, requestURI, objectRef }: AuditEvent): Ask {
  const { apiGroup = '', resource = requestURI, subresource, namespace } = objectRef ?? {};
  return {
    verb,
    group: apiGroup,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    namespace,
  };
}

function rightOf({ verb, group, resource, namespace }: Ask): Right {
  return `${verb} ${group === '' ? resource : `${resource}.${group}`}${namespace === undefined ? '' : ` in ${namespace}`}`;
}

const succeeded = ({ responseStatus }: AuditEvent): boolean =>
  responseStatus !== undefined && responseStatus.code >= 200 && responseStatus.code < 300;

const sorted = (rights: readonly Right[]): readonly Right[] => [...new Set(rights)].toSorted();
