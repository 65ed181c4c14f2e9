import { type Diagnostic, notReached, refusalLines, type Refusals, withoutChange } from '@kube-semaphore/multicluster';
import { pageOf, printable } from '@kube-semaphore/text';
import { netChanges } from './sets/desired/change-facts.ts';
import type { Change } from './sets/desired/change.ts';
import {
  type CompanionChange,
  companionFacts,
  isSameMap,
  type OpenRule,
  openTexts,
} from '@kube-semaphore/network-policies';

type Skipped = Diagnostic & { readonly subject: string };

/** What a plan says about one remote. */
export type RemotePlan = {
  readonly cluster: string;
  /** Whether its Pods were listed in time. If not, the plan decides nothing about it. */
  readonly reached: boolean;
  /** Why it was not reached, in words; undefined: it was, or it gave no answer. */
  readonly failure: string | undefined;
  /** Why nothing of it changes although it was reached; undefined: nothing prevents changes. */
  readonly heldBack: string | undefined;
  /** Pods, or addresses in our sets, that its list is missing and whose deletion is held. */
  readonly heldDeletions: number;
  readonly skipped: readonly Skipped[];
  /** The names of its sets now. */
  readonly sets: readonly string[];
  /** How many companions let it in now. */
  readonly companions: number;
};

export type Plan = {
  /** Of sets. */
  readonly changes: readonly Change[];
  readonly companionChanges: readonly CompanionChange[];
  readonly refusals: Refusals;
  /** Rules of NetworkPolicies that reach more than the clusters that they name. */
  readonly openRules: readonly OpenRule[];
  /** Of the local cluster. */
  readonly skipped: readonly Skipped[];
  readonly remotes: readonly RemotePlan[];
};

/** 0, or 1 if a remote wasn't reached, so that the plan is incomplete. */
export const exitCodeOf = ({ remotes }: Plan): 0 | 1 => (remotes.every(({ reached }) => reached) ? 0 : 1);

/** A plan for people. Ends in a line break. */
export function planText({ changes, companionChanges, refusals, openRules, skipped, remotes }: Plan): string {
  const unreached = remotes.filter(({ reached }) => !reached).map(({ cluster }) => cluster);
  const all = [...changes.map(changeLine), ...companionChanges.map(companionLine)];
  const lines = [...(all.length === 0 ? [withoutChange(unreached)] : all), ...refusalLines(refusals)];
  const open = openRules.flatMap(openTexts).map((text) => `open    ${printable(text)}`);
  if (open.length + skipped.length > 0) lines.push('', 'the local cluster:', ...open, ...skipped.map(skippedLine));
  for (const remote of remotes) lines.push('', ...remoteLines(remote));
  return pageOf(lines);
}

/** A plan for programs. */
export function planJson({ changes, companionChanges, ...rest }: Plan) {
  return {
    changes: changes.map(changeFacts),
    networkPolicies: companionChanges.map((change) => ({ change: change.kind, ...companionFacts(change) })),
    ...rest,
  };
}

function companionLine(change: CompanionChange): string {
  const { kind, name: object, addresses, added, removed } = companionFacts(change);
  const name = `${kind} ${object}`;
  if (change.kind === 'create') return `create  ${name}  ${addresses.join(' ')}`;
  if (change.kind === 'delete') return `delete  ${name}  ${removed.join(' ')}`;
  const cidrs = [...added.map((cidr) => `+${cidr}`), ...removed.map((cidr) => `-${cidr}`)];
  return `change  ${name}  ${cidrs.join(' ') || 'other fields'}`;
}

function changeLine(change: Change): string {
  switch (change.kind) {
    case 'create':
      return `create  ${change.to.name}  ${change.to.nets.join(' ')}`;
    case 'delete':
      return `delete  ${change.from.name}  ${change.from.nets.join(' ')}`;
    case 'update': {
      const { added, removed } = netChanges(change);
      const nets = [...added.map((net) => `+${net}`), ...removed.map((net) => `-${net}`)];
      const labels = isSameMap(change.from.labels, change.to.labels) ? [] : ['labels'];
      return `change  ${change.to.name}  ${[...nets, ...labels].join(' ') || 'spelling'}`;
    }
  }
}

function changeFacts(change: Change): object {
  const { name, labels, nets } = change.kind === 'delete' ? change.from : change.to;
  const facts = { change: change.kind, name, labels, nets };
  return change.kind === 'update' ? { ...facts, ...netChanges(change) } : facts;
}

const count = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;

function remoteLines(remote: RemotePlan): string[] {
  const { cluster, reached, failure, heldBack, heldDeletions, skipped, sets, companions } = remote;
  if (!reached) {
    const heading = sets.length > 0 ? ['Its sets stay as they are:'] : [];
    return [notReached(cluster, failure), ...heading, ...sets.map((set) => `unknown  ${set}`)];
  }
  const extra = companions === 0 ? '' : ` and ${count(companions, 'companion')}`;
  const held = count(heldDeletions, 'address', 'addresses');
  return [
    `${cluster}: ${count(sets.length, 'set')}${extra} now${heldBack === undefined ? '' : `; nothing changes: ${heldBack}`}`,
    ...(heldDeletions === 0 ? [] : [`held    ${held} that its list is missing, until the next list`]),
    ...skipped.map(skippedLine),
  ];
}

const skippedLine = ({ subject, kind, detail }: Skipped): string =>
  `${kind === 'problem' ? 'skip!' : 'skip '}   ${printable(subject)}: ${printable(detail)}`;
