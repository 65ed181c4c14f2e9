import { type Diagnostic, notReached, withoutChange } from '@kube-semaphore/multicluster';
import { jsonPage, pageOf, printable } from '@kube-semaphore/text';
import type { Change } from './desired/diff/change.ts';
import { type RoutingChange, routingChanges } from './desired/diff/routing-changes.ts';

/** What a plan says about one cluster. */
export type RemotePlan = {
  readonly cluster: string;
  /** Whether it was listed in time. If not, nothing about it is decided. */
  readonly reached: boolean;
  /** Why it was not reached, in words; undefined if it was, or if it gave no answer at all. */
  readonly failure: string | undefined;
  /** It is the local cluster, our Role is for the mirror namespace only, and nothing else of it is needed. */
  readonly forbidden: boolean;
  /** How many Services and slices are missing from its lists, and held. */
  readonly heldDeletions: number;
  /** The selectors that match no Service of it. */
  readonly unmatched: readonly string[];
  readonly skipped: readonly (Diagnostic & { readonly subject: string })[];
  /** The names of its mirrors now. */
  readonly services: readonly string[];
};

/** Objects of a cluster that isn't in the config: its name, or the prefix of its mirrors. */
type Orphans = { readonly cluster: string; readonly objects: number };

export type Plan = {
  /** The mirror namespace, if it is missing: nothing can be written until an operator creates it. */
  readonly missingNamespace: string | undefined;
  readonly changes: readonly Change[];
  readonly remotes: readonly RemotePlan[];
  readonly orphans: readonly Orphans[];
};

/** Whether a plan is incomplete without the cluster. */
const isMissing = ({ reached, forbidden }: RemotePlan): boolean => !reached && !forbidden;

/** 0; or 1 if a remote wasn't reached, so that the plan is incomplete, or the mirror namespace is missing. */
export const exitCodeOf = ({ missingNamespace, remotes }: Plan): 0 | 1 =>
  missingNamespace === undefined && !remotes.some(isMissing) ? 0 : 1;

/** A plan for people. Ends in a line break. */
export function planText({ missingNamespace, changes, remotes, orphans }: Plan): string {
  const missing =
    missingNamespace === undefined
      ? []
      : [`missing Namespace ${missingNamespace}: create it, or nothing can be written`, ''];
  const unreached = remotes.filter(isMissing).map(({ cluster }) => cluster);
  const routing = routingChanges(changes).map(routeLine);
  return pageOf([
    ...missing,
    ...(changes.length === 0 ? [withoutChange(unreached)] : changes.map(changeLine)),
    ...(routing.length === 0 ? [] : ['', ...routing]),
    ...remotes.flatMap((remote) => ['', ...remoteLines(remote)]),
    ...orphans.flatMap(({ cluster, objects }) => [
      '',
      `${cluster}: not in the config: ${count(objects, 'object')} would stay; "cleanup -cluster ${cluster}" removes them`,
    ]),
  ]);
}

/** A plan for programs: one JSON object, and a line break. */
export function planJson(plan: Plan): string {
  const changes = plan.changes.map((change) => {
    const { verb, kind, name } = facts(change);
    return { change: verb, kind, name, ...('to' in change && { to: change.to }) };
  });
  return jsonPage({ ...plan, changes, routing: routingChanges(plan.changes) });
}

/** One change, for people. */
export function changeLine(change: Change): string {
  const { verb, kind, name, endpoints } = facts(change);
  return `${verb.padEnd(7)} ${kind} ${name}${endpoints === undefined ? '' : `  ${count(endpoints, 'endpoint')}`}`;
}

function routeLine({ service, to, zones }: RoutingChange): string {
  const route =
    to === 'everywhere'
      ? 'to the endpoints of all clusters'
      : `to local endpoints first, with hints ${zones.join(', ')}`;
  return `route   ${service}: ${route}`;
}

const KINDS = { service: 'Service', slice: 'EndpointSlice', endpoints: 'Endpoints' } as const;

function facts(change: Change) {
  const [verb = '', kind = ''] = change.kind.split('-');
  const { name } = 'to' in change ? change.to : change.from;
  const endpoints = 'to' in change && 'endpoints' in change.to ? change.to.endpoints.length : undefined;
  return { verb: verb === 'update' ? 'change' : verb, kind: KINDS[kind as keyof typeof KINDS], name, endpoints };
}

const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;

function remoteLines(remote: RemotePlan): readonly string[] {
  const { cluster, failure, heldDeletions, unmatched, skipped, services } = remote;
  if (remote.forbidden)
    return [`${cluster}: listing all namespaces is forbidden: no part in global services; its objects would stay`];
  if (!remote.reached)
    return [
      notReached(cluster, failure),
      `Its ${count(services.length, 'service')} would stay:`,
      ...services.map((name) => `unknown ${name}`),
    ];
  return [
    `${cluster}: ${count(services.length, 'service')} now`,
    ...unmatched.map((selector) => `empty   no Service matches ${selector}`),
    ...(heldDeletions === 0
      ? []
      : [`held    ${count(heldDeletions, 'object')} missing from its lists, until the next list`]),
    ...skipped.map(
      ({ subject, kind, detail }) =>
        `${kind === 'problem' ? 'skip!' : 'skip '}   ${printable(subject)}: ${printable(detail)}`,
    ),
  ];
}
