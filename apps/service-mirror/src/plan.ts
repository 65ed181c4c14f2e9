import { type Diagnostic, notReached, refusalLines, type Refusals, withoutChange } from '@kube-semaphore/multicluster';
import type { Condition } from '@kube-semaphore/kube-objects';
import { pageOf, printable } from '@kube-semaphore/text';
import type { Change } from './endpoints/desired/diff/change.ts';
import type { McsChange, PlacedChange } from './imports/desired/changes.ts';
import { type RoutingChange, routingChanges } from './services/desired/routing-changes.ts';

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

/** What a plan says about one cluster's part in ServiceImports. */
export type ExportsPlan = {
  readonly cluster: string;
  /** Whether its exports are known. If not, nothing about it is decided. */
  readonly known: boolean;
  /** How many objects are missing from its lists, and held. */
  readonly heldDeletions: number;
  /** The imports that it has a part in now, as `ns/name`. */
  readonly imports: readonly string[];
  /** Those that no `RemotePlan` has. */
  readonly skipped: RemotePlan['skipped'];
};

/** Objects of a cluster that isn't in the config: its name, or the prefix of its mirrors. */
type Orphans = { readonly cluster: string; readonly objects: number };

export type Plan = {
  /** The mirror namespace, if it is missing: nothing can be written until an operator creates it. */
  readonly missingNamespace: string | undefined;
  readonly changes: readonly Change[];
  readonly importChanges: readonly PlacedChange[];
  readonly refusals: Refusals;
  readonly remotes: readonly RemotePlan[];
  /** All clusters, including the local one; empty without Multi-Cluster Services. */
  readonly exports: readonly ExportsPlan[];
  readonly orphans: readonly Orphans[];
};

/** Whether a plan is incomplete without the cluster. */
const isMissing = ({ reached, forbidden }: RemotePlan): boolean => !reached && !forbidden;

/** 0; or 1 if a remote or exports are unknown, so that the plan is incomplete, or the mirror namespace is missing. */
export const exitCodeOf = ({ missingNamespace, remotes, exports }: Plan): 0 | 1 =>
  missingNamespace === undefined && !remotes.some(isMissing) && exports.every(({ known }) => known) ? 0 : 1;

/** A plan for people. Ends in a line break. */
export function planText(plan: Plan): string {
  const { missingNamespace, changes, importChanges, refusals, remotes, exports, orphans } = plan;
  const missing =
    missingNamespace === undefined
      ? []
      : [`missing Namespace ${missingNamespace}: create it, or nothing can be written`, ''];
  const unreached = remotes.filter(isMissing).map(({ cluster }) => cluster);
  const unknown = exports.filter(({ known }) => !known).map(({ cluster }) => cluster);
  const routing = routingChanges(changes).map(routeLine);
  const lines = [...changes.map((change) => changeLine(change)), ...importChanges.map(importChangeLine)];
  return pageOf([
    ...missing,
    ...(lines.length > 0
      ? lines
      : unreached.length > 0 || unknown.length === 0
        ? [withoutChange(unreached)]
        : [`Changes are unknown: the exports of ${unknown.join(', ')} aren't known.`]),
    ...(routing.length === 0 ? [] : ['', ...routing]),
    ...refusalLines(refusals),
    ...remotes.flatMap((remote) => ['', ...remoteLines(remote)]),
    ...exports.flatMap((each) => ['', ...exportsLines(each)]),
    ...orphans.flatMap(({ cluster, objects }) => [
      '',
      `${cluster}: not in the config: ${count(objects, 'object')} would stay; "cleanup -cluster ${cluster}" removes them`,
    ]),
  ]);
}

/** A plan for programs. */
export function planJson({ importChanges, ...plan }: Plan) {
  const changes = plan.changes.map((change) => {
    const { verb, kind, name } = facts(change);
    return { change: verb, kind, name, ...('to' in change && { to: change.to }) };
  });
  const ofImports = importChanges.map(({ change, namespace }) => {
    const { verb, kind, name } = facts(change);
    const to = change.kind === 'update-export-status' ? { conditions: change.conditions } : 'to' in change && change.to;
    return { change: verb, kind, namespace, name, ...(to && { to }) };
  });
  return { ...plan, changes: [...changes, ...ofImports], routing: routingChanges(plan.changes) };
}

/** One change, for people. */
export function changeLine(change: Change): string {
  const { verb, kind, name, endpoints } = facts(change);
  return `${verb.padEnd(7)} ${kind} ${name}${endpoints === undefined ? '' : `  ${count(endpoints, 'endpoint')}`}`;
}

/** One change of an import's objects, or of an export's status, for people. */
export function importChangeLine({ namespace, change }: PlacedChange): string {
  const { verb, kind, name, endpoints } = facts(change);
  const status = statusOf(change);
  const end = endpoints === undefined ? status : count(endpoints, 'endpoint');
  return `${verb.padEnd(7)} ${kind} ${namespace}/${name}${end === undefined ? '' : `  ${end}`}`;
}

/** The status that a change writes; undefined if it writes none. */
function statusOf(change: McsChange): string | undefined {
  if (change.kind === 'update-export-status') return conditionsText(change.conditions);
  if (change.kind !== 'update-import-status') return undefined;
  const { clusters, conditions } = change.to;
  return `from ${clusters.join(', ')}; ${conditionsText(conditions)}`;
}

/** Others may have set some of them. */
const conditionsText = (conditions: readonly Condition[]): string =>
  conditions.map(({ type, status, reason }) => printable(`${type}=${status} ${reason}`)).join(', ') || 'no conditions';

function routeLine({ service, to, zones }: RoutingChange): string {
  const route =
    to === 'everywhere'
      ? 'to the endpoints of all clusters'
      : `to local endpoints first, with hints ${zones.join(', ')}`;
  return `route   ${service}: ${route}`;
}

const KINDS = {
  service: 'Service',
  slice: 'EndpointSlice',
  endpoints: 'Endpoints',
  derived: 'Service',
  import: 'ServiceImport',
  export: 'ServiceExport',
} as const;

function facts(change: Change | McsChange) {
  const [verb = '', kind = ''] = change.kind.split('-');
  const { name } = 'from' in change ? change.from : change.to;
  const endpoints = 'to' in change && 'endpoints' in change.to ? change.to.endpoints.length : undefined;
  return { verb: verb === 'update' ? 'change' : verb, kind: KINDS[kind as keyof typeof KINDS], name, endpoints };
}

const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;

function remoteLines(remote: RemotePlan): readonly string[] {
  const { cluster, failure, heldDeletions, unmatched, skipped, services } = remote;
  if (remote.forbidden)
    return [
      `${cluster}: listing all namespaces is forbidden: no part in global services; its objects would stay`,
      ...skipped.map(skippedLine),
    ];
  if (!remote.reached)
    return [
      notReached(cluster, failure),
      `Its ${count(services.length, 'service')} would stay:`,
      ...services.map((name) => `unknown ${name}`),
      ...skipped.map(skippedLine),
    ];
  return [
    `${cluster}: ${count(services.length, 'service')} now`,
    ...unmatched.map((selector) => `empty   no Service matches ${selector}`),
    ...heldLines(heldDeletions),
    ...skipped.map(skippedLine),
  ];
}

function exportsLines({ cluster, known, heldDeletions, imports, skipped }: ExportsPlan): readonly string[] {
  const part = `its part in ${count(imports.length, 'import')}`;
  return [
    known ? `${cluster}: ${part} now` : `${cluster}: exports unknown: ${part} would stay`,
    ...(known ? [] : imports.map((name) => `unknown ${name}`)),
    ...heldLines(heldDeletions),
    ...skipped.map(skippedLine),
  ];
}

const heldLines = (held: number): readonly string[] =>
  held === 0 ? [] : [`held    ${count(held, 'object')} missing from its lists, until the next list`];

const skippedLine = ({ subject, kind, detail }: RemotePlan['skipped'][number]): string =>
  `${kind === 'problem' ? 'skip!' : 'skip '}   ${printable(subject)}: ${printable(detail)}`;
