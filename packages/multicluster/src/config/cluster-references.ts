import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { keyHashList, type RemoteClusterOptions } from '@kube-semaphore/options';
import * as z from 'zod/mini';

/** How config files say where a remote cluster is. An empty text is as good as none. */
export type RemoteAddress = {
  readonly kubeConfigPath?: string | undefined;
  readonly remoteAPIURL?: string | undefined;
  readonly remoteCAURL?: string | undefined;
  /** As `caCertHash` reads it. */
  readonly remoteCACertHash?: readonly string[] | undefined;
  readonly remoteSATokenPath?: string | undefined;
};

/** The field `remoteCACertHash` of a config file: hashes with commas between them, as the flag has them. */
export const caCertHash = z.optional(
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
);

/** The local cluster: a kubeconfig, or the pod that we run in. */
export const localReference = (path: string | undefined): ClusterReference =>
  given(path) === undefined ? { kind: 'in-cluster' } : { kind: 'kubeconfig', path: path! };

/** The remote cluster of the flags for one, which were validated to be complete. */
export function referenceOfFlags(options: RemoteClusterOptions): ClusterReference {
  const { targetKubeConfig, remoteApiUrl, remoteCaUrl, remoteCaCertHash, remoteSaTokenPath, remoteSaToken } = options;
  if (targetKubeConfig !== undefined) return { kind: 'kubeconfig', path: targetKubeConfig };
  const token = remoteSaTokenPath === undefined ? { value: remoteSaToken! } : { path: remoteSaTokenPath };
  return { kind: 'api-server', apiUrl: remoteApiUrl!, caUrl: remoteCaUrl!, caHashes: remoteCaCertHash, token };
}

/** A remote cluster: a kubeconfig, or the other three together. */
export function remoteReference(address: RemoteAddress): Parsed<ClusterReference> {
  const path = given(address.kubeConfigPath);
  if (path !== undefined) return good({ kind: 'kubeconfig', path });
  const [apiUrl, caUrl, tokenPath] = [
    given(address.remoteAPIURL),
    given(address.remoteCAURL),
    given(address.remoteSATokenPath),
  ];
  if (apiUrl === undefined || caUrl === undefined || tokenPath === undefined) {
    return bad('it is required, or remoteAPIURL, remoteCAURL and remoteSATokenPath together');
  }
  return good({ kind: 'api-server', apiUrl, caUrl, caHashes: address.remoteCACertHash, token: { path: tokenPath } });
}

/** A cluster to connect to, and the flag or the field of a file that names it, for errors. */
export type NamedReference = { readonly at: string; readonly reference: ClusterReference };

/**
 * Clusters that have the API server of an earlier one: a kubeconfig that was copied, and a cluster that would mirror itself.
 * It goes by the address, which needs no right; behind two proxies one address may be two clusters.
 *
 * @returns sentences for the log
 */
export function sharedServers(clusters: readonly { readonly at: string; readonly server: URL }[]): readonly string[] {
  return clusters.flatMap(({ at, server }, i) => {
    const first = clusters.slice(0, i).find((other) => other.server.href === server.href);
    return first === undefined ? [] : [`${at} leads to the same API server as ${first.at}: is it the right cluster?`];
  });
}

type Remote = { readonly name: string; readonly reference: ClusterReference };

/** The one remote of a command line. @param flag of its kubeconfig */
export const remoteOfFlags = ({ name, reference }: Remote, flag: string): NamedReference => ({
  at: reference.kind === 'kubeconfig' ? flag : `the remote cluster ${name}`,
  reference,
});

/** The remotes of a config file: `config.json: remotes[0].kubeConfigPath (c2)`. @param at the file, and what it calls the list */
export const remotesOfFile = (remotes: readonly Remote[], at: string): readonly NamedReference[] =>
  remotes.map(({ name, reference }, i) => ({
    at: `${at}[${i}]${reference.kind === 'kubeconfig' ? '.kubeConfigPath' : ''} (${name})`,
    reference,
  }));

/** What replaces a kubeconfig. */
const DIRECT = ['remoteAPIURL', 'remoteCAURL', 'remoteCACertHash', 'remoteSATokenPath'] as const;

/**
 * What a config file says in vain of where its remotes are: the kubeconfig comes first, as in the Go programs, under which
 * deployed files work.
 *
 * @param at what the file calls its list of remotes
 * @returns sentences for the log
 */
export function overriddenAddresses(remotes: readonly RemoteAddress[], at: string): readonly string[] {
  return remotes.flatMap((address, i) => {
    if (given(address.kubeConfigPath) === undefined) return [];
    return DIRECT.filter((field) => given(address[field]) !== undefined).map(
      (field) => `${at}[${i}].${field} counts for nothing beside kubeConfigPath`,
    );
  });
}

const given = <T>(value: T | undefined): T | undefined => (value === '' ? undefined : value);
