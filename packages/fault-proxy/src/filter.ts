/** The verbs of the Kubernetes API, as RBAC and audit logs name them. */
type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** The parts of a request that a filter compares. */
export type FilteredRequest = {
  /** `GET` */
  readonly method: string;
  /** The path and the query: `/api/v1/pods?watch=1`. */
  readonly target: string;
  /** A {@link Verb}; for paths without a resource, the method in lower case. */
  readonly verb: string;
};

/** The requests that a fault affects: those that match all fields. */
export type RequestFilter = {
  readonly method?: string;
  readonly verb?: Verb;
  /** Searched for in the path and query. Must not have the flags `g` and `y`, which keep state. */
  readonly target?: RegExp;
  /** Only every n-th matching request; default 1. */
  readonly every?: number;
  /** Only the first so many of the rest; default all. */
  readonly times?: number;
};

/** A predicate that counts, so call it once per request. */
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
