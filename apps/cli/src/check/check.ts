import type { AppStatus, RemoteStatus } from '../clusters/app-status.ts';
import type { AppPod, ClusterReport } from '../clusters/report.ts';
import type { Reading } from './facts.ts';

/** A problem stops traffic or will; a warning may be as you want it. */
export type Finding = { readonly severity: 'problem' | 'warning'; readonly detail: string };

/** Looks for one kind of trouble. Its name is a heading of docs/check.md, and public. */
export type Check = {
  readonly name: string;
  /** What to do, in one sentence. */
  readonly hint: string;
  /** Undefined: there is nothing of the kind to check. */
  readonly find: (readings: readonly Reading[]) => readonly Finding[] | undefined;
};

/** A Pod that tells its status, with its cluster. */
export type ReadPod = { readonly cluster: string; readonly pod: AppPod; readonly status: AppStatus };

/** A remote, as a Pod sees it. */
export type SeenRemote = ReadPod & { readonly remote: RemoteStatus };

export const podsOf = (reports: readonly ClusterReport[]) =>
  reports.flatMap(({ cluster, pods }) => pods.map((pod) => ({ cluster, pod })));

export const readPods = (reports: readonly ClusterReport[]): readonly ReadPod[] =>
  podsOf(reports).flatMap(({ cluster, pod }) =>
    'failure' in pod.status ? [] : [{ cluster, pod, status: pod.status }],
  );

export const seenRemotes = (reports: readonly ClusterReport[]): readonly SeenRemote[] =>
  readPods(reports).flatMap((read) => read.status.remotes.map((remote) => ({ ...read, remote })));

/** How a finding names a Pod. */
export const placeOf = ({ cluster, pod }: { readonly cluster: string; readonly pod: AppPod }): string =>
  `${cluster}: ${pod.namespace}/${pod.name}`;

/** A check of each of some subjects. @param detailOf what is wrong with a subject; undefined: nothing */
export function checkOfEach<T>(
  name: string,
  {
    severity = 'problem',
    hint,
    subjects,
    detailOf,
  }: Pick<Check, 'hint'> & {
    readonly severity?: Finding['severity'];
    readonly subjects: (readings: readonly Reading[]) => readonly T[];
    readonly detailOf: (subject: T) => string | undefined;
  },
): Check {
  return {
    name,
    hint,
    find: (reports) => {
      const all = subjects(reports);
      return all.length === 0
        ? undefined
        : all.map(detailOf).flatMap((detail) => (detail === undefined ? [] : [{ severity, detail }]));
    },
  };
}
