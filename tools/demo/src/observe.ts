import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { ObjectHistory } from '@kube-semaphore/testkit';
import { contentOf, type Copy, type Expected, partOf } from './copies.ts';
import { formatDuration } from './text/duration.ts';

/** Where mirrors and global Services are. */
export const mirrorNamespace = 'sys-semaphore';
/** Where sets are in the API. */
export const setsPath = '/apis/projectcalico.org/v3/globalnetworksets';

/** The copies in a cluster, after each write. */
export type History = Readonly<Awaited<ReturnType<typeof watchCopies>>>;

type Version = { readonly copy: Copy; readonly ms: number };

/** The versions of a copy during a change. */
export type Observation = {
  /** From the first request of the change until the copy was right. */
  readonly rightMs: number;
  /** Duration of the requests of the change. */
  readonly changeMs: number;
  /** All versions until the right one, which is the last. */
  readonly versions: readonly Version[];
  readonly first: Version;
  readonly last: Version;
};

const paths = [
  setsPath,
  `/api/v1/namespaces/${mirrorNamespace}/services`,
  `/apis/discovery.k8s.io/v1/namespaces/${mirrorNamespace}/endpointslices`,
];

/** After this pause the apps are idle, so a measurement doesn't contain the wait of the previous change. */
const QUIET_MS = 250;

/** Watches the copies in a cluster, so that the demo doesn't rely on the apps. */
export async function watchCopies(cluster: TestCluster) {
  const { token } = await cluster.account('demo', [{ apiGroups: ['*'], resources: ['*'], verbs: ['watch'] }]);
  const latest = new Map<string, readonly KubeObject[]>(paths.map((path) => [path, []]));
  const moments: { atMs: number; objects: readonly KubeObject[] }[] = [];
  const watch = (path: string) => {
    const momentOf = (objects: readonly KubeObject[]) => {
      latest.set(path, objects);
      moments.push({ atMs: performance.now(), objects: [...latest.values()].flat() });
    };
    return ObjectHistory.start({ cluster, path, token, momentOf });
  };
  const watches = await Promise.all(paths.map(watch));
  return { moments, stop: async () => watches.forEach((each) => each.stop()) };
}

/**
 * Makes a change, and waits until a cluster has the expected copy.
 *
 * @throws {Error} if it doesn't get it
 */
export async function observe(
  { name: cluster, history }: { readonly name: string; readonly history: History },
  { name, content }: Expected,
  change: () => Promise<unknown>,
): Promise<Observation> {
  await delay(QUIET_MS);
  const startMs = performance.now();
  await change();
  const changeMs = performance.now() - startMs;
  const wanted = content();
  const seen = (): Observation | undefined => {
    const versions = versionsSince(history, name, startMs);
    const last = versions.find(({ copy }) => isDeepStrictEqual(contentOf(copy), wanted));
    const [first = last] = versions;
    const meanwhile = versions.slice(0, last && versions.indexOf(last) + 1);
    return last && first && { rightMs: last.ms, changeMs, versions: meanwhile, first, last };
  };
  const what = `${name} of ${cluster} to ${wanted ? `be ${JSON.stringify(wanted)}` : 'go'}`;
  return eventually(seen, isDefined, { what, intervalMs: 5 });
}

/** The versions of a copy after a time, by `performance.now()`. */
export function versionsSince({ moments }: Pick<History, 'moments'>, name: string, startMs: number): Version[] {
  let before = partOf(moments.findLast(({ atMs }) => atMs < startMs)?.objects ?? [], name);
  const later = moments.filter(({ atMs }) => atMs >= startMs);
  return later.flatMap(({ atMs, objects }) => {
    const copy = partOf(objects, name);
    const isNew = copy.length !== before.length || copy.some((object, index) => object !== before[index]);
    before = copy;
    return isNew ? [{ copy, ms: atMs - startMs }] : [];
  });
}

/** The number of writes, and how long the change itself took: `in 1 write (the update took 14 ms of it)`. */
export const costOf = (
  { versions: { length }, changeMs }: { versions: { length: number }; changeMs: number },
  change: string,
): string => `in ${length} ${length === 1 ? 'write' : 'writes'} (${change} took ${formatDuration(changeMs)} of it)`;
