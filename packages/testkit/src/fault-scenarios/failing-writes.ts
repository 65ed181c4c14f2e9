import type { Fault } from '@kube-semaphore/fault-proxy';

const forbidden = (message: string): Fault => ({ kind: 'answer', status: 403, message });

/**
 * How an API server may treat one write for ever. The messages of 403 are kube-apiserver's: only the one of RBAC means that we
 * lack a right.
 */
export const failingWrites: readonly { readonly name: string; readonly fault: Fault }[] = [
  { name: '400', fault: { kind: 'answer', status: 400 } },
  {
    name: '403 by an admission policy',
    fault: forbidden(
      `objects "x" is forbidden: ValidatingAdmissionPolicy 'few' with binding 'few' denied request: not this one`,
    ),
  },
  {
    name: '403 by a webhook',
    fault: forbidden('admission webhook "check.example.com" denied the request: User "a" cannot create resource "b"'),
  },
  {
    name: '403 by a quota',
    fault: forbidden(
      'objects "x" is forbidden: exceeded quota: few, requested: count/x=1, used: count/x=5, limited: count/x=5',
    ),
  },
  {
    name: '403 by RBAC',
    fault: forbidden(
      'objects "x" is forbidden: User "u" cannot update resource "objects" in API group "" in the namespace "n"',
    ),
  },
  { name: '404', fault: { kind: 'answer', status: 404 } },
  { name: '409', fault: { kind: 'answer', status: 409 } },
  { name: '413', fault: { kind: 'answer', status: 413 } },
  { name: '422', fault: { kind: 'answer', status: 422 } },
  { name: '429', fault: { kind: 'answer', status: 429, retryAfterSeconds: 1 } },
  { name: '500', fault: { kind: 'answer', status: 500 } },
  { name: '503', fault: { kind: 'answer', status: 503 } },
  { name: 'no answer', fault: { kind: 'stall' } },
];
