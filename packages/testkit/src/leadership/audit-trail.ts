import type { AuditEvent } from '../real/audit.ts';

/** A write request in the audit log. Times are the API server's, in ms since the epoch. */
export type AuditedWrite = {
  /** Name of the ServiceAccount. */
  readonly account: string;
  /** As in the audit log: `create`, `update`, `delete` ... */
  readonly verb: string;
  /** Path and query. */
  readonly uri: string;
  readonly code: number;
  readonly receivedMs: number;
  readonly endedMs: number;
};

/** An account's term with a Lease: from its first write of the Lease to the first one by another account. */
export type Tenure = { readonly account: string; readonly fromMs: number };

/** A filter for writes: accounts, resources, and a namespace (undefined: any). */
export type TrailQuery = {
  readonly accounts: readonly string[];
  readonly resources: readonly string[];
  readonly namespace?: string;
};

const READS = ['get', 'list', 'watch'];

/** The writes of some accounts, including refused ones, in the order in which the API server received them. */
export function writesOf(
  events: readonly AuditEvent[],
  { accounts, resources, namespace }: TrailQuery,
): AuditedWrite[] {
  return events
    .filter(({ objectRef }) => namespace === undefined || objectRef?.namespace === namespace)
    .filter(({ verb, objectRef }) => resources.includes(objectRef?.resource ?? '') && !READS.includes(verb))
    .map((event) => ({
      account: accountOf(event),
      verb: event.verb,
      uri: event.requestURI,
      code: event.responseStatus?.code ?? 0,
      receivedMs: Date.parse(event.requestReceivedTimestamp),
      endedMs: Date.parse(event.stageTimestamp),
    }))
    .filter(({ account }) => accounts.includes(account))
    .toSorted((a, b) => a.receivedMs - b.receivedMs);
}

export const hasSucceeded = ({ code }: AuditedWrite): boolean => code >= 200 && code < 300;

/** The terms of a Lease in order, by its successful writes. */
export function tenuresOf(leaseWrites: readonly AuditedWrite[]): Tenure[] {
  return leaseWrites
    .filter(hasSucceeded)
    .filter(({ account }, index, writes) => writes[index - 1]?.account !== account)
    .map(({ account, receivedMs }) => ({ account, fromMs: receivedMs }));
}

/** When an account read a Lease. */
export function leaseReads(events: readonly AuditEvent[], account: string): number[] {
  return events
    .filter((event) => event.verb === 'get' && event.objectRef?.resource === 'leases' && accountOf(event) === account)
    .map(({ stageTimestamp }) => Date.parse(stageTimestamp));
}

const accountOf = ({ user: { username = '' } }: AuditEvent): string =>
  username.replace('system:serviceaccount:kube-system:', '');
