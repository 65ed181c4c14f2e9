import { type Pod, podIPsAnnotation } from '@kube-semaphore/kube-objects';

/** Why a Pod or one of its addresses is skipped; fields as in `SetDiagnostic`. */
export type PodDiagnostic = {
  readonly kind: 'expected' | 'problem';
  readonly reason:
    | 'finished'
    | 'no-address'
    | 'address-released'
    | 'address-reused'
    | 'deletion-overdue'
    | 'bad-namespace'
    | 'bad-label'
    | 'bad-address'
    | 'address-not-allowed'
    | 'other-family'
    | 'too-large';
  readonly detail: string;
};

/** Whether a Pod ran to its end, so that another one may get its address. */
export const isFinished = ({ phase }: Pick<Pod['status'], 'phase'>): boolean =>
  phase === 'Succeeded' || phase === 'Failed';

/** Whether Calico took the addresses of a Pod back. A Pod without the annotation says nothing. */
export const isReleased = ({ annotations }: Pick<Pod['metadata'], 'annotations'>): boolean =>
  annotations[podIPsAnnotation] === '';
