import { isStatus, type KubeApiError } from '@kube-semaphore/kube-client';
import type { Diagnostic } from '../remote/diagnostic-register.ts';

/**
 * What a user has to know about a write that the API server doesn't want, with its words; undefined: it failed otherwise. A
 * namespace that is being deleted is no problem: what follows is known when it is gone.
 */
export function refusalOf(error: unknown): RefusalDiagnostic | undefined {
  if (isRefusal(error)) return { kind: 'problem', reason: 'refused', detail: error.message };
  if (isNamespaceTerminating(error))
    return { kind: 'expected', reason: 'namespace-terminating', detail: error.message };
  return undefined;
}

type RefusalDiagnostic = Diagnostic & { readonly reason: 'refused' | 'namespace-terminating' };

/**
 * Whether the API server answered that it doesn't want this object: it is invalid (400, 413, 422), or an admission policy, a
 * webhook or a quota denies it (403). The answer stays the same until the object changes, or what denies it.
 */
export const isRefusal = (error: unknown): error is KubeApiError =>
  isStatus(error, 400, 413, 422) || (isStatus(error, 403) && !isMissingRight(error) && !isNamespaceGone(error));

/** Whether our account lacks a right. The words are those of k8s.io/apiserver's `responsewriters.ForbiddenMessage`. */
export const isMissingRight = (error: unknown): error is KubeApiError =>
  isStatus(error, 403) && /\bforbidden: User "[^"]*" cannot [a-z]+ (?:resource|path) "/.test(error.message);

/** Whether nothing can be created, as the namespace is being deleted, or is gone. The watch of Namespaces reports what follows. */
export const isNamespaceGone = (error: unknown): error is KubeApiError =>
  isNamespaceTerminating(error) || (isStatus(error, 404) && /\bnamespaces "/.test(error.message));

const isNamespaceTerminating = (error: unknown): error is KubeApiError =>
  isStatus(error, 403) && error.causes.includes('NamespaceTerminating');
