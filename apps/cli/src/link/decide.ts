import { join } from 'node:path';
import type { IpFamily } from '@kube-semaphore/net';
import packageJson from '../../package.json' with { type: 'json' };
import type { GivenAnswers } from './answers.ts';
import { type Choices, CHOICES_FILE, choicesIn, choicesOf, choicesText, flagsOf, writtenIn } from './choices.ts';
import { knownRemotes, rangeFields } from './files/config-files.ts';
import { conflictsOf } from './findings/conflicts.ts';
import { deployOf } from './files/deploy.ts';
import { type FamiliesBetween, familiesBetween, usedOf } from './findings/families.ts';
import { type Cluster, type Finding, findingsOf } from './findings/findings.ts';
import { type Change, COPIES, type Files, isOverlay } from './files/folder.ts';
import { VALUES_FILE } from './files/helm-values.ts';
import { limitsOf, writtenBy } from './findings/limits.ts';
import { nameOf, type Overlays } from './names.ts';
import type { Observed } from './findings/observe.ts';
import { overlayOf, withoutOld } from './files/overlay.ts';
import { type RangeChange, rangeChanges } from './range-changes.ts';

/** A cluster of a run. */
export type Side = {
  readonly context: string;
  readonly answers: GivenAnswers;
  readonly choices: Choices;
  /** Its folder. */
  readonly path: string;
  readonly before: Files;
  readonly findings: readonly Finding[];
  /** Undefined: a problem says why. */
  readonly cluster: Cluster | undefined;
};

/**
 * The clusters of a run, with what was found of them and what flags choose.
 *
 * @param given by flags of this run
 * @param apply they will be changed
 */
export function sidesOf(
  readings: readonly { readonly observed: Observed; readonly answers: GivenAnswers }[],
  {
    output,
    overlays: { existing, known, uids },
    given,
    families: givenFamilies,
    apply,
  }: {
    readonly output: string;
    readonly overlays: Overlays;
    readonly given: Choices;
    /** By a flag of this run. */
    readonly families: readonly IpFamily[] | undefined;
    readonly apply: boolean;
  },
): { readonly sides: readonly Side[]; readonly families: FamiliesBetween; readonly problems: readonly string[] } {
  const all = readings.map((reading) => {
    const { context, uid } = reading.observed;
    return { ...reading, named: nameOf({ context, uid, given: reading.answers.name }, { output, uids }) };
  });
  const named = all.flatMap(({ named: { ...name }, ...reading }) => (name.ok ? [{ ...reading, name }] : []));
  const choices = choicesOf(
    named.map(({ name: { value }, answers }) => ({
      files: existing.get(value) ?? new Map(),
      folder: join(output, value),
      answers,
    })),
    given,
  );
  const found = named.map(({ observed, answers, name }, i) => ({
    ...findingsOf(observed, { ...answers, named: name }, { ...choices[i], apply }),
    answers,
    choices: choices[i]!,
    path: join(output, name.value),
    before: existing.get(name.value) ?? new Map<string, string>(),
    flags: flagsOf(choices[i]!, given).join(' '),
  }));
  const names = named.map(({ name: { value } }) => value);
  const families = familiesBetween(names, givenFamilies, known);
  const conflicts = conflictsOf(
    found.flatMap(({ cluster }) => cluster ?? []),
    {
      known: new Map(names.map((name) => [name, known.get(name) ?? []])),
      families,
      sharedServiceCidrs: choices.some(({ sharedServiceCidrs }) => sharedServiceCidrs === true),
    },
  );
  return {
    families,
    sides: found.map(({ problems: _problems, flags, findings, cluster, ...side }) => ({
      ...side,
      cluster,
      // Those that an earlier run gave.
      findings: flags === '' ? findings : [...findings, { what: 'flags', found: flags, source: CHOICES_FILE }],
    })),
    problems: [
      ...all.flatMap(({ named: each }) => (each.ok ? [] : [each.problem])),
      ...found.flatMap(({ problems }) => problems),
      ...conflicts,
    ],
  };
}

/** The overlay of a cluster. */
export type Overlay = {
  readonly change: Change;
  readonly ranges: readonly RangeChange[];
  /** All remotes that it has. */
  readonly remotes: readonly string[];
};

/** Decides how the overlay of a cluster changes. @param manifests of `deploy/` @throws {UsageError} */
export function overlayFor(
  { path, before, choices }: Side,
  cluster: Cluster,
  {
    remotes,
    families,
    manifests,
  }: { readonly remotes: readonly Cluster[]; readonly families: FamiliesBetween; readonly manifests: Files },
): Overlay {
  const { deploy } = choices;
  // A folder of manifests may be there, too.
  const isFolder = typeof deploy === 'string' && !deploy.includes('://');
  const after = overlayOf(cluster, {
    remotes: remotes.map((remote) => usedOf(remote, families(cluster.name, remote.name))),
    existing: before,
    deploy: deployOf(choices, path),
    manifests: typeof deploy === 'string' ? undefined : manifests,
    version: packageJson.version,
    choices,
  });
  const written = writtenBy(writtenIn(before), limitsOf(cluster, remotes));
  after.set(CHOICES_FILE, choicesText(choices, path, { uid: cluster.uid, written }));
  const isOld = (file: string): boolean =>
    file.startsWith(`${COPIES}/`)
      ? isOverlay(before) && !isFolder
      : file === VALUES_FILE && choicesIn(before).helm === true;
  return {
    change: { before, after: withoutOld(before, after, isOld) },
    ranges: rangeChanges(rangeFields(before), rangeFields(after)),
    remotes: knownRemotes(after).map(({ name }) => name),
  };
}
