/** What a request asks for, as RBAC and the request log see it. */
export type RequestInfo = {
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; for other paths, the method. */
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Absent for paths such as /version and /apis. */
  readonly target?: Target;
};

export type Target = {
  readonly group: string;
  readonly version: string;
  /** The resource's plural name. */
  readonly resource: string;
  readonly subresource: string;
  /** Empty for cluster-scoped resources, and for lists over all namespaces. */
  readonly namespace: string;
  /** Empty for lists. */
  readonly name: string;
};

const verbs: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

/** Reads a method and a request target (`/api/v1/pods?watch=1`) the way kube-apiserver's RequestInfoFactory does. */
export function requestInfo(method: string, url: string): RequestInfo {
  const { pathname: path, searchParams: query } = new URL(url, 'https://localhost');
  const target = parseTarget(path.split('/').slice(1).map(decodeURIComponent));
  if (!target) return { verb: method.toLowerCase(), path, query };
  if (target.name !== '') {
    return { verb: verbs[method] ?? (method === 'DELETE' ? 'delete' : 'get'), path, query, target };
  }
  const verb =
    verbs[method] ?? (method === 'DELETE' ? 'deletecollection' : isTrue(query.get('watch')) ? 'watch' : 'list');
  // A list of one name counts as a request for that name, so that a role with resourceNames can allow it.
  const name = verb === 'create' ? undefined : /^metadata\.name==?([^,]+)$/.exec(query.get('fieldSelector') ?? '')?.[1];
  return { verb, path, query, target: name === undefined ? target : { ...target, name } };
}

/** `/api/VERSION/...` or `/apis/GROUP/VERSION/...`, up to RESOURCE[/NAME[/SUBRESOURCE]]. */
function parseTarget([root, ...rest]: string[]): Target | undefined {
  const group = root === 'apis' ? rest.shift() : root === 'api' ? '' : undefined;
  const version = rest.shift();
  if (group === undefined || version === undefined || rest.length === 0 || rest.at(-1) === '') return undefined;
  // /namespaces/x is about the Namespace x, /namespaces/x/pods about what is in it. The two subresources of
  // Namespaces are the exception.
  const inside = rest[0] === 'namespaces' && rest.length > 2 && !['status', 'finalize'].includes(rest[2]!);
  const namespace = inside ? rest[1]! : rest[0] === 'namespaces' ? (rest[1] ?? '') : '';
  const [resource = '', name = '', subresource = ''] = inside ? rest.slice(2) : rest;
  return { group, version, resource, subresource, namespace, name };
}

/** Whether a query parameter is true, by the rules of Go's ParseBool; present but empty is true, too. */
export const isTrue = (value: string | null): boolean =>
  ['', '1', 't', 'T', 'TRUE', 'true', 'True'].includes(value ?? 'false');
