import type { AppStatus, DrainStatus } from '../clusters/app-status.ts';
import { type ClusterReport, readPods } from '../clusters/report.ts';
import { some } from '../output/some.ts';

/** What semaphore-service-mirror in a cluster says; of its replicas, the leader. */
const mirrorsIn = (reports: readonly ClusterReport[]) =>
  readPods(reports).filter(({ pod, status }) => pod.app === 'semaphore-service-mirror' && status.leader === true);

/** Which clusters are drained, where, since when, by whom and why: a sentence each. */
export const drainedIn = (reports: readonly ClusterReport[]): readonly string[] =>
  mirrorsIn(reports).flatMap(({ cluster, status }) =>
    (status.drains ?? []).map((drain) => `${cluster}: ${drainWords(drain)}`),
  );

/** Who drained a cluster, when, and why. */
export const drainWords = ({ cluster, since, by, reason }: DrainStatus): string =>
  `${cluster} is drained${since === null ? '' : ` since ${since}`}${by === null ? '' : ` by ${by}`}` +
  (reason === null ? '' : `: ${reason}`);

/** For how many Services another level than the best one answers, and why: a sentence for each cluster. */
export const movedIn = (reports: readonly ClusterReport[]): readonly string[] =>
  mirrorsIn(reports).flatMap(({ cluster, status: { orders } }) => {
    if (orders === undefined || orders.moved.length === 0) return [];
    const count = orders.services.other + orders.services.none;
    const services = count === 1 ? '1 Service' : `${count} Services`;
    return [`${cluster}: ${services} without the best level: ${some(orders.moved.map(movedText), '; ')}`];
  });

type Ordered = NonNullable<AppStatus['orders']>['moved'][number];

function movedText({ service, levels }: Ordered): string {
  const first = levels.findIndex(({ role }) => role === 'first');
  const worse = (first === -1 ? levels : levels.slice(0, first)).flatMap(({ level, state }) =>
    state === undefined ? [] : [`"${level}" is ${words[state] ?? state}`],
  );
  const who = first === -1 ? 'no endpoint is ready' : `"${levels[first]!.level}" answers`;
  return `${service}: ${[...worse, who].join(', ')}`;
}

const words: Readonly<Record<string, string>> = {
  'not-ready': 'not ready',
  'min-ready': 'below min-ready',
  waiting: 'up within 30 s',
};
