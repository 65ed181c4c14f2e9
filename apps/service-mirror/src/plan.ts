import { type Diagnostic, notReached, withoutChange } from '@kube-semaphore/multicluster';
import { jsonPage, pageOf, printable } from '@kube-semaphore/text';
import type { Change } from './desired/change.ts';
import { routingChanges } from './desired/routing-changes.ts';

/** What a plan knows of one remote. */
type RemotePlan = {
  readonly cluster: string;
  /** Whether it was listed in time. If not, nothing of it is decided. */
  readonly reached: boolean;
  /** Why it was not reached, in words; undefined: it was, or there was no answer at all. */
  readonly failure: string | undefined;
  /** It is the local one, which may not be seen beyond the mirror namespace, and is done without. */
  readonly leftOut: boolean;
  /** Services and slices that its lists lacked and that aren't given up yet. */
  readonly heldDeletions: number;
  /** The selectors that find no Service of it. */
  readonly unmatched: readonly string[];
  readonly skipped: readonly (Diagnostic & { readonly subject: string })[];
  /** The mirrors that it has now. */
  readonly services: readonly string[];
};

/** What is there of a cluster that isn't in the config: its name, or the prefix of its mirrors. */
type Orphans = { readonly cluster: string; readonly objects: number };

export type Plan = {
  /** The mirror namespace, if it isn't there: nothing can be written until somebody creates it. */
  readonly missingNamespace: string | undefined;
  readonly changes: readonly Change[];
  readonly remotes: readonly RemotePlan[];
  readonly orphans: readonly Orphans[];
};

/** 0, or 1 if a remote wasn't reached and the plan is but a part of the truth, or the mirror namespace isn't there. */
export const exitCodeOf = ({ missingNamespace, remotes }: Plan): 0 | 1 =>
  missingNamespace === undefined && remotes.every(({ reached, leftOut }) => reached || leftOut) ? 0 : 1;

/** A plan for people. Ends in a line break. */
export function planText({ missingNamespace, changes, remotes, orphans }: Plan): string {
  const unreached = remotes.filter(({ reached, leftOut }) => !reached && !leftOut).map(({ cluster }) => cluster);
  const lines = [
    ...missingLines(missingNamespace),
    ...(changes.length === 0 ? [withoutChange(unreached)] : changes.map(changeLine)),
  ];
  const routing = routingChanges(changes).map(
    ({ service, to, zones }) =>
      `route   ${service}: ${to === 'everywhere' ? 'to endpoints of all clusters alike' : `to local endpoints first, by hints to ${zones.join(', ')}`}`,
  );
  if (routing.length > 0) lines.push('', ...routing);
  for (const remote of remotes) lines.push('', ...remoteLines(remote));
  for (const { cluster, objects } of orphans)
    lines.push(
      '',
      `${cluster}: not in the config. ${count(objects, 'object')} of it would stay, until "cleanup -cluster ${cluster}"`,
    );
  return pageOf(lines);
}

const missingLines = (namespace: string | undefined): readonly string[] =>
  namespace === undefined ? [] : [`missing Namespace ${namespace}: create it, or nothing can be written`, ''];

/** A plan for programs: one JSON object, and a line break. */
export function planJson(plan: Plan): string {
  return jsonPage({ ...plan, changes: plan.changes.map(changeFacts), routing: routingChanges(plan.changes) });
}

const VERBS = {
  'create-service': 'create',
  'update-service': 'change',
  'replace-service': 'replace',
  'delete-service': 'delete',
  'create-slice': 'create',
  'update-slice': 'change',
  'delete-slice': 'delete',
  'delete-endpoints': 'delete',
} as const;

const KINDS = { service: 'Service', slice: 'EndpointSlice', endpoints: 'Endpoints' } as const;

/** One change, for people. */
export function changeLine(change: Change): string {
  const { verb, kind, name, endpoints } = facts(change);
  return `${verb.padEnd(7)} ${kind} ${name}${endpoints === undefined ? '' : `  ${count(endpoints, 'endpoint')}`}`;
}

function changeFacts(change: Change): object {
  const { verb, kind, name } = facts(change);
  return { change: verb, kind, name, ...('to' in change && { to: change.to }) };
}

function facts(change: Change) {
  const kind = KINDS[change.kind.split('-')[1] as keyof typeof KINDS];
  const { name } = 'to' in change ? change.to : change.from;
  const endpoints = 'to' in change && 'endpoints' in change.to ? change.to.endpoints.length : undefined;
  return { verb: VERBS[change.kind], kind, name, endpoints };
}

const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;

function remoteLines({
  cluster,
  reached,
  failure,
  leftOut,
  heldDeletions,
  unmatched,
  skipped,
  services,
}: RemotePlan): string[] {
  if (leftOut)
    return [
      `${cluster}: not allowed to be seen, so it has no part in global services, and what it has there would stay as it is`,
    ];
  if (!reached) {
    return [
      notReached(cluster, failure),
      `What it has, ${count(services.length, 'service')}, would stay as it is:`,
      ...services.map((name) => `unknown ${name}`),
    ];
  }
  const held =
    heldDeletions === 0
      ? []
      : [`held    ${count(heldDeletions, 'object')} that its lists lack, until it is listed again`];
  return [
    `${cluster}: ${count(services.length, 'service')} now`,
    ...unmatched.map((selector) => `none    0 Services match ${selector}`),
    ...held,
    ...skipped.map(
      ({ subject, kind, detail }) =>
        `${kind === 'problem' ? 'skip!' : 'skip '}   ${printable(subject)}: ${printable(detail)}`,
    ),
  ];
}
