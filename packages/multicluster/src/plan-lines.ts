import { printable } from '@kube-semaphore/text';

/** The first line of a plan without a change. @param unreached the remotes that are unknown */
export const withoutChange = (unreached: readonly string[]): string =>
  unreached.length === 0 ? 'Nothing to change.' : `Changes are unknown: ${unreached.join(', ')} not reached.`;

/** The heading of a remote that wasn't reached. @param failure why, possibly with text of others */
export const notReached = (cluster: string, failure: string | undefined): string =>
  `${cluster}: not reached: ${printable(failure ?? 'no answer')}`;
