import { containsCidr } from '@kube-semaphore/net';
import type { GivenAnswers } from './answers.ts';
import type { Cluster } from './findings/findings.ts';
import { cidrsOf, type RangeField } from './files/config-files.ts';

/** What changes in a field. */
export type RangeChange = Omit<RangeField, 'ranges'> & {
  readonly removed: readonly string[];
  readonly added: readonly string[];
  /** Those of `added` that let in more than the field did. */
  readonly wider: readonly string[];
};

const ANY = ['any'];

/** What differs in fields that both have. A remote that is new has no change: a user named it. */
export function rangeChanges(before: readonly RangeField[], after: readonly RangeField[]): readonly RangeChange[] {
  const old = new Map(before.map((each) => [keyOf(each), each]));
  return after.flatMap(({ ranges, ...place }) => {
    const known = old.get(keyOf({ ...place, ranges }));
    if (known === undefined) return [];
    const [had, has] = [known.ranges ?? ANY, ranges ?? ANY];
    const [removed, added] = [had.filter((each) => !has.includes(each)), has.filter((each) => !had.includes(each))];
    if (removed.length + added.length === 0) return [];
    const lets = cidrsOf(had);
    const wider =
      known.ranges === undefined ? [] : cidrsOf(added).filter((cidr) => !lets.some((each) => containsCidr(each, cidr)));
    return [{ ...place, removed, added, wider: wider.map(({ text }) => text) }];
  });
}

const keyOf = ({ file, field, remote = '' }: RangeField): string => `${file} ${field} ${remote}`;

/** A cluster of a run, with what changes in its files. */
type Changed = { readonly cluster: Cluster; readonly given: GivenAnswers; readonly changes: readonly RangeChange[] };

type Kind = {
  readonly key: 'podCidrs' | 'nodeCidrs';
  readonly what: string;
  readonly flag: string;
  readonly fields: readonly RangeField['field'][];
};

const KINDS: readonly Kind[] = [
  { key: 'podCidrs', what: 'Pods', flag: '--pod-cidr', fields: ['allowedPodCIDRs', 'podSubnet'] },
  { key: 'nodeCidrs', what: 'nodes', flag: '--node-cidr', fields: ['allowedEndpointCIDRs'] },
];

/**
 * Ranges that a remote has now, and that others didn't let in before, unless a flag of this run names them: a remote
 * doesn't choose what others let in.
 *
 * @returns a sentence for each remote with such ranges of Pods, and one for those of nodes
 */
export const unconfirmed = (all: readonly Changed[]): readonly string[] =>
  all
    .flatMap(({ cluster, given }) => KINDS.map((kind) => ({ cluster, given, kind })))
    .filter(({ given, kind }) => !Array.isArray(given[kind.key]))
    .flatMap(({ cluster: { context, name, ...cluster }, kind: { key, what, flag, fields } }) => {
      const found = all.flatMap(({ cluster: reader, changes }) =>
        changes
          .filter(({ remote, field }) => remote === name && fields.includes(field))
          .flatMap(({ wider }) => wider.map((range) => ({ range, reader: reader.name }))),
      );
      if (found.length === 0) return [];
      const flags = cluster[key].map(({ text }) => `${flag} ${context}=${text}`).join(' ');
      const [ranges, readers] = [unique(found.map(({ range }) => range)), unique(found.map(({ reader }) => reader))];
      return [
        `${context}: ${ranges} for ${what} is more than ${readers} let in so far: if that is right, set ${flags}`,
      ];
    });

const unique = (texts: readonly string[]): string => [...new Set(texts)].join(', ');
