import { some } from '../output/some.ts';
import type { RemoteStatus } from './app-status.ts';
import { type AppPod, apps, type ClusterReport } from './report.ts';

/** What is wrong, as one Pod of ours sees it. */
export type Trouble = {
  /** The cause, up to the places where it is seen: `c4 is not reached: from`. */
  readonly lead: string;
  /** What more the Pod says, such as an error. Equal leads are one cause, whatever it is. */
  readonly why?: string | undefined;
  /** Whether another `why` is another cause. */
  readonly isByWhy?: boolean;
  /** RFC 3339. */
  readonly since?: string | undefined;
};

/** A trouble, and who sees it. */
export type Seen = Trouble & { readonly cluster: string; readonly pod: AppPod };

/** Those of some subjects that see a trouble. */
export const seenBy = <T extends Pick<Seen, 'cluster' | 'pod'>>(
  subjects: readonly T[],
  troubleOf: (subject: T) => Trouble | undefined,
): readonly Seen[] =>
  subjects.flatMap((subject) => {
    const trouble = troubleOf(subject);
    return trouble === undefined ? [] : [{ ...trouble, cluster: subject.cluster, pod: subject.pod }];
  });

/**
 * A sentence for each cause, those first that most apps see: `c4 is not reached: from c1, c2 (policy, service-mirror), since …:
 * refused`.
 */
export function causesOf(seen: readonly Seen[], reports: readonly ClusterReport[]): readonly string[] {
  const causes = Array.from(Map.groupBy(seen, causeOf).values(), (same) => ({
    sentence: sentenceOf(same, reports),
    places: new Set(same.map(({ cluster, pod }) => `${cluster} ${pod.app}`)).size,
  }));
  return causes.toSorted((a, b) => b.places - a.places).map(({ sentence }) => sentence);
}

const causeOf = ({ lead, why = '', isByWhy }: Trouble): string => (isByWhy === true ? `${lead} ${why}` : lead);

function sentenceOf(same: readonly Seen[], reports: readonly ClusterReport[]): string {
  const clusters = Array.from(
    Map.groupBy(same, ({ cluster }) => cluster),
    ([cluster, own]) => {
      const pods = reports.find((report) => report.cluster === cluster)?.pods ?? [];
      return { cluster, who: whoText(new Set(own.map(({ pod }) => pod)), pods) };
    },
  );
  const places = Array.from(
    Map.groupBy(clusters, ({ who }) => who),
    ([who, alike]) => `${some(alike.map(({ cluster }) => cluster))} (${who})`,
  );
  const [since] = same.flatMap((each) => each.since ?? []).toSorted();
  const whys = [...new Set(same.flatMap(({ why }) => why ?? []))];
  const when = since === undefined ? '' : `, since ${since}`;
  return `${same[0]!.lead} ${places.join(', ')}${when}${whys.length === 0 ? '' : `: ${some(whys, '; ')}`}`;
}

/** The apps that see it; if not all Pods of an app do, these, too. */
function whoText(seeing: ReadonlySet<AppPod>, all: readonly AppPod[]): string {
  const names = apps.flatMap((app) => {
    const own = all.filter((pod) => pod.app === app);
    const found = own.filter((pod) => seeing.has(pod));
    if (found.length === 0) return [];
    const where = found.length === own.length ? '' : ` in ${some(found.map((pod) => `${pod.namespace}/${pod.name}`))}`;
    return [`${app.slice('semaphore-'.length)}${where}`];
  });
  return names.join(', ');
}

/** If a remote doesn't answer. */
export const notReached = ({ name, up, since, lastError }: RemoteStatus): Trouble | undefined =>
  up ? undefined : { lead: `${name} is not reached: from`, since, why: lastError?.message };

/** If a remote answers, and its first list isn't complete. */
export const notListed = ({ name, up, synced }: RemoteStatus): Trouble | undefined =>
  up && !synced ? { lead: `${name} is not listed yet: in` } : undefined;

/** If global Services do without a remote. */
export const notFresh = ({ name, stale }: RemoteStatus): Trouble | undefined =>
  stale === true ? { lead: `${name} is stale in global Services: in` } : undefined;

/** If a Pod can't be asked. */
export const notReported = ({ status }: AppPod): Trouble | undefined =>
  'failure' in status ? { lead: "Pods don't report their status: in", why: status.failure, isByWhy: true } : undefined;
