import { printable } from '@kube-semaphore/text';
import type { Context } from './contexts.ts';
import type { RequestError } from './request.ts';

/** Why a cluster can't be read, in one sentence that says what to do. */
export function failureOf(
  { name, server, user, actsAs }: Pick<Context, 'name' | 'server' | 'user' | 'actsAs'>,
  { status, message }: Pick<RequestError, 'status' | 'message'>,
): string {
  return printable(`${name}: ${sentence()}`);

  function sentence(): string {
    if (status === 401)
      return `the API server refuses the credentials of the user "${user}" (401): log in again, or renew its token or certificate`;
    const role = actsAs === undefined ? `"${user}"` : `"${actsAs}", as whom "${user}" acts,`;
    if (status === 403) return `the user ${role} lacks a right: ask an administrator for it: ${message}`;
    if (status !== undefined) return `${server} answers ${status}: check the server in the kubeconfig: ${message}`;
    if (message.startsWith('no credentials'))
      return `the kubeconfig gives ${message}: check the user "${user}" in it, and its plugin`;
    return `${server} is not reached: check the network, and the server in the kubeconfig: ${message}`;
  }
}
