import type { ClusterReference, ContextReference } from '@kube-semaphore/cluster-auth';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { keyHashList, type RemoteClusterOptions } from '@kube-semaphore/options';
import * as z from 'zod/mini';

const text = z.optional(z.string());

/** The fields by which config files name a remote cluster. An empty text is the same as none. */
export const addressFields = {
  kubeConfigPath: text,
  remoteAPIURL: text,
  remoteCAURL: text,
  /** Hashes with commas between them, like those of the flag. */
  remoteCACertHash: z.optional(
    z.pipe(
      z.string(),
      z.transform((raw, { issues }): readonly string[] | undefined => {
        if (raw === '') return undefined;
        const hashes = keyHashList.parse(raw);
        if (hashes.ok) return hashes.value;
        issues.push({ code: 'custom', message: hashes.reason, input: raw });
        return z.NEVER;
      }),
    ),
  ),
  remoteSATokenPath: text,
};

export type RemoteAddress = z.infer<z.ZodMiniObject<typeof addressFields>> & {
  /** Of a remote that an inventory has; no file can name one. */
  readonly context?: ContextReference | undefined;
};

/** How the config of an app refers to a remote. */
export type RemoteReference = ClusterReference | ContextReference;

/** The local cluster: a kubeconfig, or the cluster of our pod. */
export const localReference = (path = ''): ClusterReference =>
  path === '' ? { kind: 'in-cluster' } : { kind: 'kubeconfig', path };

/** The remote cluster of the flags for one, which were validated to be complete. */
export function referenceOfFlags(options: RemoteClusterOptions): ClusterReference {
  const { targetKubeConfig, remoteApiUrl, remoteCaUrl, remoteCaCertHash, remoteSaTokenPath, remoteSaToken } = options;
  if (targetKubeConfig !== undefined) return { kind: 'kubeconfig', path: targetKubeConfig };
  const token = remoteSaTokenPath === undefined ? { value: remoteSaToken! } : { path: remoteSaTokenPath };
  return { kind: 'api-server', apiUrl: remoteApiUrl!, caUrl: remoteCaUrl!, caHashes: remoteCaCertHash, token };
}

/** A remote cluster: a kubeconfig, or the other three together. */
export function remoteReference({
  context,
  kubeConfigPath: path = '',
  remoteAPIURL: apiUrl = '',
  remoteCAURL: caUrl = '',
  remoteCACertHash: caHashes,
  remoteSATokenPath: tokenPath = '',
}: RemoteAddress): Parsed<RemoteReference> {
  if (context !== undefined) return good(context);
  if (path !== '') return good({ kind: 'kubeconfig', path });
  if (apiUrl === '' || caUrl === '' || tokenPath === '')
    return bad('it is required, or remoteAPIURL, remoteCAURL and remoteSATokenPath together');
  return good({ kind: 'api-server', apiUrl, caUrl, caHashes, token: { path: tokenPath } });
}

/** A cluster to connect to, and the flag, the field of a file or the object that names it, for errors. */
export type NamedReference = { readonly at: string; readonly reference: RemoteReference };

/**
 * Clusters that have the API server of an earlier one, such as a kubeconfig that was copied. Compares addresses, which
 * needs no rights; behind two proxies one address may be two clusters.
 *
 * @param since the index of the first one that is new
 * @returns sentences for the log, about new ones
 */
export function sharedServers(
  clusters: readonly { readonly at: string; readonly server: URL }[],
  since = 0,
): readonly string[] {
  return clusters.flatMap(({ at, server }, i) => {
    const first = clusters.slice(0, i).find((other) => other.server.href === server.href);
    return first === undefined || i < since
      ? []
      : [`${at} leads to the same API server as ${first.at}: is it the right cluster?`];
  });
}

type Remote = { readonly name: string; readonly reference: RemoteReference };

/** The one remote of a command line. @param flag of its kubeconfig */
export const remoteOfFlags = ({ name, reference }: Remote, flag: string): NamedReference => ({
  at: reference.kind === 'kubeconfig' ? flag : `the remote cluster ${name}`,
  reference,
});

/**
 * The remotes of a config file: `config.json: remotes[0].kubeConfigPath (c2)`; behind them those of an inventory.
 *
 * @param at the file, and the name of the list
 */
export const remotesOfFile = (remotes: readonly Remote[], at: string): readonly NamedReference[] =>
  remotes.map(({ name, reference }, i) => ({ at: placeOf(reference, `${at}[${i}]`, name), reference }));

function placeOf(reference: RemoteReference, at: string, name: string): string {
  if (reference.kind !== 'context') return `${at}${reference.kind === 'kubeconfig' ? '.kubeConfigPath' : ''} (${name})`;
  return `ClusterProfile ${reference.context.from.cluster.path} (${name})`;
}

/** What a kubeconfig overrides. */
const DIRECT = ['remoteAPIURL', 'remoteCAURL', 'remoteCACertHash', 'remoteSATokenPath'] as const;

/**
 * Fields of a config file that a kubeconfig overrides, as in the Go programs, whose files must keep working.
 *
 * @param at the name of the list of remotes
 * @returns sentences for the log
 */
export const overriddenAddresses = (remotes: readonly RemoteAddress[], at: string): readonly string[] =>
  remotes.flatMap(({ kubeConfigPath = '', ...address }, i) =>
    DIRECT.filter((field) => kubeConfigPath !== '' && (address[field] ?? '') !== '').map(
      (field) => `${at}[${i}].${field} is ignored: kubeConfigPath overrides it`,
    ),
  );
