import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Files } from './components.ts';

/** One request, as the API server saw it. Of the many fields those that tests ask about. */
export type AuditEvent = {
  readonly verb: string;
  readonly requestURI: string;
  /** Without a name if it wasn't authenticated. */
  readonly user: { readonly username?: string; readonly groups?: readonly string[] };
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
export const readAuditLog = (files: Files): Promise<AuditEvent[]> => followAuditLog(files)();

/** Of a function that returns the events since its last call, and at first all. Calls must not overlap. */
export function followAuditLog({ auditLog }: Files): () => Promise<AuditEvent[]> {
  let read = 0;
  return async () => {
    const bytes = await buffer(createReadStream(auditLog, { start: read }));
    const text = bytes.subarray(0, bytes.lastIndexOf('\n') + 1);
    read += text.length;
    return text
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditEvent);
  };
}
