import { connect } from '@kube-semaphore/cluster-auth';
import { onTestFinished } from 'vitest';
import { KubeClient, type KubeClientOptions, type RequestReport } from '../src/index.ts';

/** A client by a kubeconfig, with what it reports. Its connection is closed after the test. */
export async function openClient(
  kubeconfig: string,
  options: Partial<Pick<KubeClientOptions, 'encoding' | 'idleTimeoutMs'>> = {},
) {
  const reference = { kind: 'kubeconfig', path: kubeconfig } as const;
  const connection = await connect(reference, { env: {}, log: { info: () => {}, warn: () => {} } });
  onTestFinished(() => connection.close());
  const reports: RequestReport[] = [];
  const client = new KubeClient({
    connection,
    userAgent: 'kube-client-test',
    // A silence of a busy machine isn't one of the server.
    idleTimeoutMs: 50_000,
    onRequest: (report) => reports.push(report),
    ...options,
  });
  return { client, connection, reports };
}

/** The signal of a caller that never aborts. */
export const { signal } = new AbortController();
