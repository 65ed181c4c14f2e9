import { readFile, writeFile } from 'node:fs/promises';
import type { Files } from './components.ts';

/** One request, as the API server saw it. Of the many fields those that tests ask about. */
export type AuditEvent = {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly namespace?: string;
    readonly name?: string;
    readonly apiGroup?: string;
    readonly subresource?: string;
  };
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  /** `ResponseStarted` is only reported for watches, whose end may be far. */
  readonly stage: 'ResponseStarted' | 'ResponseComplete' | 'Panic';
};

/** Who asked for what, without bodies. */
const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
};

/** Writes the policy that kube-apiserver is started with. */
export async function writeAuditPolicy(files: Files): Promise<void> {
  await writeFile(files.auditPolicy, JSON.stringify(policy));
}

/** The events so far, oldest first. A request's own event may follow its answer by a moment. */
export async function readAuditLog(files: Files): Promise<AuditEvent[]> {
  const log = await readFile(files.auditLog, 'utf8');
  const complete = log.slice(0, log.lastIndexOf('\n') + 1);
  return complete
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent);
}
