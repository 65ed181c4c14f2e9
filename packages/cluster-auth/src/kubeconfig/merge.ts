import { ClusterAuthError } from '../errors.ts';
import type { Kubeconfig } from './schema.ts';

/** What a kubeconfig's entry says, and the file that has it: paths are relative to that. */
export type Entry<T> = { readonly path: string; readonly value: T };

/** Several kubeconfigs as one. */
export type MergedKubeconfig = {
  /** The file that names the current context, or the first one, for errors. Undefined: there is no file. */
  readonly path: string | undefined;
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, Entry<Kubeconfig['contexts'][number]['context']>>;
  readonly clusters: ReadonlyMap<string, Entry<Kubeconfig['clusters'][number]['cluster']>>;
  readonly users: ReadonlyMap<string, Entry<Kubeconfig['users'][number]['user']>>;
};

/** A kubeconfig that was read. */
export type KubeconfigFile = { readonly path: string; readonly config: Kubeconfig };

/**
 * Merges kubeconfigs as kubectl does (k8s.io/client-go/tools/clientcmd/loader.go): for each name, the whole entry of the
 * first file that has it, and the current context of the first file that has one.
 *
 * @throws {ClusterAuthError} if one file has two entries with one name
 */
export function mergeKubeconfigs(files: readonly KubeconfigFile[]): MergedKubeconfig {
  const current = files.find(({ config }) => config['current-context'] !== undefined) ?? files[0];
  const merged = <T>(
    kind: string,
    entriesOf: (config: Kubeconfig) => readonly (readonly [name: string, value: T])[],
  ) => {
    const all = new Map<string, Entry<T>>();
    for (const { path, config } of files) {
      const own = new Set<string>();
      for (const [name, value] of entriesOf(config)) {
        if (own.has(name))
          throw new ClusterAuthError(
            'CLUSTER_KUBECONFIG',
            `kubeconfig ${path}: there are two entries of ${kind} "${name}"`,
          );
        own.add(name);
        if (!all.has(name)) all.set(name, { path, value });
      }
    }
    return all;
  };
  return {
    path: current?.path,
    currentContext: current?.config['current-context'],
    contexts: merged('context', (config) => config.contexts.map(({ name, context }) => [name, context])),
    clusters: merged('cluster', (config) => config.clusters.map(({ name, cluster }) => [name, cluster])),
    users: merged('user', (config) => config.users.map(({ name, user }) => [name, user])),
  };
}
