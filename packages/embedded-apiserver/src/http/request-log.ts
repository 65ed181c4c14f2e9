import type { RequestInfo } from './request-info.ts';

/** One request, as in an audit log. A watch is logged when it begins. */
export type LoggedRequest = {
  /** `system:serviceaccount:kube-system:x`, `kubernetes-admin`, `system:anonymous`; empty for a bad token. */
  readonly user: string;
  /** The Kubernetes verb, such as `list`, `watch` or `update`. */
  readonly verb: string;
  /** The request target without its query. */
  readonly path: string;
  readonly query: string;
  readonly group: string;
  /** The plural name, with the subresource as in `pods/status`; empty for paths such as /version. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly userAgent: string;
  readonly status: number;
  /** When it was answered, in milliseconds since 1970. */
  readonly at: number;
};

/** The line of a request that is being answered. */
export function logEntry(
  {
    info,
    userName,
    userAgent = '',
    status,
  }: { info: RequestInfo; userName: string; userAgent: string | undefined; status: number },
  now = Date.now(),
): LoggedRequest {
  const { group = '', resource = '', subresource = '', namespace = '', name = '' } = info.target ?? {};
  return {
    user: userName,
    verb: info.verb,
    path: info.path,
    query: info.query.toString(),
    group,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    namespace,
    name,
    userAgent,
    status,
    at: now,
  };
}
