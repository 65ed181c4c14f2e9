import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import type { FaultProxy } from '@kube-semaphore/fault-proxy';
import type { Side } from './sides.ts';
import type { FaultScenario } from './fault-scenario.ts';

/** Two clusters, a fault proxy before each, and a program that can be put between them. */
export type Lab = {
  readonly clusters: Readonly<Record<Side, TestCluster>>;
  readonly proxies: Readonly<Record<Side, FaultProxy>>;
  /** Starts the program, with flags without their hyphen, and resolves when everything is right. */
  readonly begin: (flags?: Readonly<Record<string, string>>) => Promise<FaultScenario>;
};

/** Uses up versions, so that a watch which starts before them expires when an API server forgets its history. */
export async function useUpVersions({ admin }: Pick<TestCluster, 'admin'>, count: number): Promise<void> {
  for (let note = 0; note < count; note += 1) {
    const patch = { metadata: { annotations: { note: String(Math.random()) } } };
    const { status } = await admin.request('PATCH', '/api/v1/namespaces/default', patch);
    if (status !== 200) throw new Error(`the namespace default can't be annotated: ${status}`);
  }
}
