import { printable } from '@kube-semaphore/text';

/** The first line of a plan without a change. @param unreached the remotes that nothing is known of */
export const withoutChange = (unreached: readonly string[]): string =>
  unreached.length === 0
    ? 'Nothing to change.'
    : `What would change is not known: ${unreached.join(', ')} not reached.`;

/** The head of a remote that wasn't reached. @param failure why, in words that may be of others */
export const notReached = (cluster: string, failure: string | undefined): string =>
  `${cluster}: not reached: ${printable(failure ?? 'no answer')}`;
