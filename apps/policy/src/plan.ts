import { type Diagnostic, notReached, withoutChange } from '@kube-semaphore/multicluster';
import { jsonPage, pageOf, printable } from '@kube-semaphore/text';
import type { Change } from './desired/change.ts';

/** What a plan knows of one remote. */
export type RemotePlan = {
  readonly cluster: string;
  /** Whether its Pods were listed in time. If not, nothing of it is decided. */
  readonly reached: boolean;
  /** Why it was not reached, in words; undefined: it was, or there was no answer at all. */
  readonly failure: string | undefined;
  /** Why nothing of it is changed although it was reached; undefined: it is. */
  readonly heldBack: string | undefined;
  /** Pods, or addresses in our sets, that its list lacked and that aren't given up yet. */
  readonly heldDeletions: number;
  readonly skipped: readonly (Diagnostic & { readonly subject: string })[];
  /** The sets that it has now. */
  readonly sets: readonly string[];
};

export type Plan = { readonly changes: readonly Change[]; readonly remotes: readonly RemotePlan[] };

/** 0, or 1 if a remote wasn't reached and the plan is but a part of the truth. */
export const exitCodeOf = ({ remotes }: Plan): 0 | 1 => (remotes.every(({ reached }) => reached) ? 0 : 1);

/** A plan for people. Ends in a line break. */
export function planText({ changes, remotes }: Plan): string {
  const unreached = remotes.filter(({ reached }) => !reached).map(({ cluster }) => cluster);
  const lines = changes.length === 0 ? [withoutChange(unreached)] : changes.map(changeLine);
  for (const remote of remotes) lines.push('', ...remoteLines(remote));
  return pageOf(lines);
}

/** A plan for programs: one JSON object, and a line break. */
export function planJson(plan: Plan): string {
  return jsonPage({ changes: plan.changes.map(changeFacts), remotes: plan.remotes });
}

function changeLine(change: Change): string {
  switch (change.kind) {
    case 'create':
      return `create  ${change.to.name}  ${change.to.nets.join(' ')}`;
    case 'delete':
      return `delete  ${change.from.name}  ${change.from.nets.join(' ')}`;
    case 'update': {
      const { added, removed, labels } = updateFacts(change.from, change.to);
      const parts = [
        ...added.map((net) => `+${net}`),
        ...removed.map((net) => `-${net}`),
        ...(labels ? ['labels'] : []),
      ];
      return `change  ${change.to.name}  ${parts.join(' ') || 'spelling'}`;
    }
  }
}

function changeFacts(change: Change): object {
  switch (change.kind) {
    case 'create':
      return { change: 'create', ...change.to };
    case 'delete':
      return { change: 'delete', name: change.from.name, labels: change.from.labels, nets: change.from.nets };
    case 'update': {
      const { added, removed } = updateFacts(change.from, change.to);
      return { change: 'update', name: change.to.name, labels: change.to.labels, nets: change.to.nets, added, removed };
    }
  }
}

type Facts = { readonly labels: { readonly [key: string]: string }; readonly nets: readonly string[] };

function updateFacts(from: Facts, to: Facts): { added: string[]; removed: string[]; labels: boolean } {
  const [before, after] = [new Set(from.nets), new Set(to.nets)];
  return {
    added: to.nets.filter((net) => !before.has(net)),
    removed: from.nets.filter((net) => !after.has(net)),
    labels:
      JSON.stringify(Object.entries(from.labels).toSorted(byKey)) !==
      JSON.stringify(Object.entries(to.labels).toSorted(byKey)),
  };
}

const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;

function byKey([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : Number(a > b);
}

function remoteLines({ cluster, reached, failure, heldBack, heldDeletions, skipped, sets }: RemotePlan): string[] {
  if (!reached) {
    return [
      notReached(cluster, failure),
      `What it has, ${count(sets.length, 'set')}, would stay as it is:`,
      ...sets.map((set) => `unknown  ${set}`),
    ];
  }
  const head = `${cluster}: ${count(sets.length, 'set')} now${heldBack === undefined ? '' : `; nothing is changed: ${heldBack}`}`;
  const held =
    heldDeletions === 0
      ? []
      : [`held    ${count(heldDeletions, 'address', 'addresses')} that its list lacks, until it is listed again`];
  return [
    head,
    ...held,
    ...skipped.map(
      ({ subject, kind, detail }) =>
        `${kind === 'problem' ? 'skip!' : 'skip '}   ${printable(subject)}: ${printable(detail)}`,
    ),
  ];
}
