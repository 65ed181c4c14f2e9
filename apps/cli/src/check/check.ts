import { causesOf, seenBy, type Trouble } from '../clusters/causes.ts';
import type { AppPod } from '../clusters/report.ts';
import type { Reading } from './facts/facts.ts';

/** A problem stops traffic or will; a warning may be as you want it; a note is what you asked for. */
export type Finding = {
  readonly severity: 'problem' | 'warning' | 'note';
  readonly detail: string;
  /** The names of what it is about, if these may be many; people see a few. */
  readonly objects?: readonly string[];
};

/** Looks for one kind of trouble. Its name is a heading of docs/check.md, and public. */
export type Check<R = Reading> = {
  readonly name: string;
  /** What to do, in one sentence. */
  readonly hint: string;
  /** Undefined: there is nothing of the kind to check. */
  readonly find: (readings: readonly R[]) => readonly Finding[] | undefined;
};

/** How a finding names a Pod. */
export const placeOf = ({ cluster, pod }: { readonly cluster: string; readonly pod: AppPod }): string =>
  `${cluster}: ${pod.namespace}/${pod.name}`;

type Subjects<T, R> = Pick<Check, 'hint'> & {
  readonly severity?: Finding['severity'];
  readonly subjects: (readings: readonly R[]) => readonly T[];
};

/** A check of what Pods of our apps say: a finding for each cause. @param troubleOf undefined: nothing is wrong */
export const checkOfCauses = <T extends { readonly cluster: string; readonly pod: AppPod }>(
  name: string,
  { troubleOf, ...of }: Subjects<T, Reading> & { readonly troubleOf: (subject: T) => Trouble | undefined },
): Check => checkOf(name, of, (all, readings) => causesOf(seenBy(all, troubleOf), readings));

/** A check of each of some subjects. @param detailOf what is wrong with a subject; undefined: nothing */
export const checkOfEach = <T, R = Reading>(
  name: string,
  { detailOf, ...of }: Subjects<T, R> & { readonly detailOf: (subject: T) => string | undefined },
): Check<R> => checkOf(name, of, (all) => all.flatMap((subject) => detailOf(subject) ?? []));

function checkOf<T, R>(
  name: string,
  { severity = 'problem', hint, subjects }: Subjects<T, R>,
  detailsOf: (all: readonly T[], readings: readonly R[]) => readonly string[],
): Check<R> {
  return {
    name,
    hint,
    find: (readings) => {
      const all = subjects(readings);
      return all.length === 0 ? undefined : detailsOf(all, readings).map((detail) => ({ severity, detail }));
    },
  };
}
