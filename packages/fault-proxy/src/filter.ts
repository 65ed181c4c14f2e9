/** The verbs of the Kubernetes API, as RBAC and audit logs name them. */
type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** What a filter sees of a request. */
export type FilteredRequest = {
  /** `GET` */
  readonly method: string;
  /** The path and the query: `/api/v1/pods?watch=1`. */
  readonly target: string;
  /** A {@link Verb}, or for paths that are no resource the method in lower case. */
  readonly verb: string;
};

/** Which requests a fault strikes: those that fit all that is said here. */
export type RequestFilter = {
  readonly method?: string;
  readonly verb?: Verb;
  /** Is looked for in the path and query; without the flags `g` and `y`, which make an expression remember. */
  readonly target?: RegExp;
  /** Of those that fit, every n-th; default 1. */
  readonly every?: number;
  /** Of those that are left, the first so many; default all. */
  readonly times?: number;
};

/** A predicate that counts: ask it once per request. */
export function matcher(filter: RequestFilter): (request: FilteredRequest) => boolean {
  const { every = 1, times = Infinity } = filter;
  let fitting = 0;
  return (request) => {
    if (!fits(filter, request)) return false;
    fitting += 1;
    return fitting % every === 0 && fitting / every <= times;
  };
}

function fits({ method, verb, target }: RequestFilter, request: FilteredRequest): boolean {
  return (
    (method === undefined || method === request.method) &&
    (verb === undefined || verb === request.verb) &&
    (target === undefined || target.test(request.target))
  );
}
