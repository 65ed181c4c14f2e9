import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { ObjectHistory } from '@kube-semaphore/testkit';
import type { Clusters, Site, SiteInput, View } from '../subject.ts';
import { read, send } from '../world.ts';

/** What an app writes into the local cluster. */
export type Writes = {
  /** Paths. */
  readonly targets: readonly string[];
  /** What is there of these remotes, as `wanted` of the app has it. */
  observed(objects: Readonly<Record<string, readonly KubeObject[]>>, remotes: readonly string[]): View;
  /** Whether it wrote the object. */
  isOurs(object: KubeObject): boolean;
  /** Whether it is a source beside what the app writes, which changes. */
  isSource(object: KubeObject): boolean;
  /** An edit by a user of an object that it wrote. */
  edited(object: KubeObject): object;
  /** Texts of what the sources that stay must always have in the local cluster, of the objects of one target. */
  readonly always: Readonly<
    Record<string, { readonly expected: readonly string[]; readonly of: (object: KubeObject) => readonly string[] }>
  >;
};

/** The site of an app that writes objects, and runs anywhere. */
export async function startObjects(writes: Writes, { c1 }: Clusters, { stack }: SiteInput): Promise<Site> {
  const { targets, always } = writes;
  const { token } = await c1.account('history', [{ apiGroups: ['*'], resources: ['*'], verbs: ['watch'] }]);
  const histories = await Promise.all(
    Object.entries(always).map(async ([path, { expected, of }]) => {
      const momentOf = (objects: readonly KubeObject[]): readonly string[] => {
        const present = new Set(objects.flatMap(of));
        return expected.filter((text) => !present.has(text));
      };
      const history = await ObjectHistory.start({ cluster: c1, path, token, momentOf });
      stack.defer(() => history.stop());
      return [path, history] as const;
    }),
  );
  const present = async () => (await read({ c1 }, ['c1'], targets))['c1']!;
  const all = async (): Promise<readonly KubeObject[]> => Object.values(await present()).flat();
  return {
    observed: async (remotes) => writes.observed(await present(), remotes),
    versions: async () => (await all()).map(versionOf),
    foreign: async () =>
      (await all()).filter((object) => !writes.isOurs(object) && !writes.isSource(object)).map(versionOf),
    async harm() {
      const missing = histories.map(async ([path, history]) => {
        await history.caughtUp();
        // Before all of it was there for the first time, it was on its way.
        const moments = history.moments.slice(history.moments.findIndex((each) => each.length === 0));
        const texts = new Set(moments.flat());
        return texts.size === 0 ? [] : [`was missing for a while from ${path}: ${[...texts].join(', ')}`];
      });
      return (await Promise.all(missing)).flat();
    },
    /** Not of what must always be there. */
    async tamper(nth, how) {
      const all = targets.map(async (path) => {
        const objects = (await c1.admin.list(path)).map((object) => [collectionOf(path, object), object] as const);
        return objects.filter(([collection, object]) => {
          const { expected, of } = always[collection] ?? NOTHING;
          return writes.isOurs(object) && !of(object).some((text) => expected.includes(text));
        });
      });
      const ours = (await Promise.all(all)).filter((each) => each.length > 0);
      const some = ours[nth % ours.length];
      if (some === undefined) throw new Error('there is no object of ours');
      const [collection, object] = some[Math.floor(nth / ours.length) % some.length]!;
      const one = `${collection}/${object.metadata.name}`;
      if (how === 'delete') await send(c1, 'DELETE', one);
      else await send(c1, 'PATCH', one, writes.edited(object));
    },
    break: (what) => Promise.reject(new Error(`${what} can't break here`)),
  };
}

const collectionOf = (path: string, { metadata: { namespace } }: KubeObject): string =>
  namespace === undefined || path.includes('/namespaces/') ? path : inNamespace(path, namespace);

const NOTHING = { expected: [], of: () => [] };

/** The collection of one namespace, by that of all. */
export const inNamespace = (path: string, namespace: string): string =>
  path.replace(/[^/]+$/, `namespaces/${namespace}/$&`);

const versionOf = ({ metadata: { name, uid, resourceVersion } }: KubeObject): string =>
  `${name} ${uid} ${resourceVersion}`;
