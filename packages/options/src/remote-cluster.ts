import { bad, type Cidr, good } from '@kube-semaphore/net';
import { spellingOf, variableOf, type OptionTable, type OptionType } from './table.ts';
import { absoluteUrl, apiServerUrl, cidrList, keyHashList, text } from './types.ts';

/** The one remote cluster of a program that runs without a config file. */
export type RemoteClusterOptions = {
  /** A kubeconfig file, or the remote is reached by the next three or four. */
  readonly targetKubeConfig: string | undefined;
  readonly remoteApiUrl: string | undefined;
  readonly remoteCaUrl: string | undefined;
  /** Of the CA's public key; without, whatever is at the URL is trusted. */
  readonly remoteCaCertHash: readonly string[] | undefined;
  readonly remoteSaTokenPath: string | undefined;
  /** The token itself, instead of its file. */
  readonly remoteSaToken: string | undefined;
  /** The addresses that the remote may bring into our objects; all of them without. */
  readonly allowedPodCidrs: readonly Cidr[] | undefined;
};

/** The keys that a flag or a variable set, as far as they are asked for here. */
type GivenRemote = { has(key: keyof RemoteClusterOptions): boolean };

/** The four that replace a kubeconfig; one of the last two will do. */
const DIRECT = ['remoteApiUrl', 'remoteCaUrl', 'remoteSaTokenPath', 'remoteSaToken'] as const;

/** What a kubeconfig has itself. */
const BESIDE_KUBECONFIG = [...DIRECT, 'remoteCaCertHash'] as const;

/** All of the keys: a config file says the same for each of its remotes. */
export const remoteClusterKeys: readonly (keyof RemoteClusterOptions)[] = [
  'targetKubeConfig',
  ...BESIDE_KUBECONFIG,
  'allowedPodCidrs',
];

/**
 * The rows of `RemoteClusterOptions`; `remoteClusterProblems` has the rules across them.
 *
 * @param prefix of the app's variables: `SSM`
 */
export function remoteClusterOptions({ prefix }: { prefix: string }): OptionTable<RemoteClusterOptions> {
  const row = (flag: string) => ({ flag, env: variableOf(prefix, flag), group: 'Remote cluster' });
  return {
    targetKubeConfig: {
      ...row('target-kube-config'),
      type: text('file'),
      help: 'Kubeconfig of the remote; or use the next options.',
    },
    remoteApiUrl: {
      ...row('remote-api-url'),
      type: apiServerUrl,
      help: 'API server of the remote: https:; http: to this machine only, with a warning.',
    },
    remoteCaUrl: {
      ...row('remote-ca-url'),
      type: absoluteUrl('https', 'http', 'file'),
      help: 'CA certificate of the remote API server: https:, file:, or http: (a warning without its hash).',
    },
    remoteCaCertHash: {
      ...row('remote-ca-cert-hash'),
      type: keyHashList,
      absent: 'any',
      help: "Hash of the CA's public key, as for kubeadm's --discovery-token-ca-cert-hash; others are refused.",
    },
    remoteSaTokenPath: {
      ...row('remote-sa-token-path'),
      type: text('file'),
      help: 'File with the token for the remote; read again when it changes.',
    },
    remoteSaToken: {
      env: `${prefix}_REMOTE_SERVICE_ACCOUNT_TOKEN`,
      secret: true,
      group: 'Remote cluster',
      type: token,
      help: 'The token itself, which can not be renewed.',
    },
    allowedPodCidrs: {
      ...row('allowed-pod-cidrs'),
      type: cidrList,
      absent: 'all',
      help: 'CIDRs of the remote Pods; other addresses are skipped.',
    },
  };
}

/**
 * What keeps the remote cluster from being reached: there is no way to it, or half of one.
 *
 * @param table where the rows are, for their spelling
 * @returns sentences that name flag and variable
 */
export function remoteClusterProblems(table: OptionTable<RemoteClusterOptions>, given: GivenRemote): string[] {
  const spelling = (key: keyof RemoteClusterOptions): string => spellingOf(table[key]);
  if (given.has('targetKubeConfig')) return [];
  if (!DIRECT.some((key) => given.has(key))) {
    return [`${spelling('targetKubeConfig')} is required, or ${spelling('remoteApiUrl')} with its CA and token`];
  }
  const missing = DIRECT.slice(0, 2).filter((key) => !given.has(key));
  const problems = missing.map((key) => `${spelling(key)} is required without ${spelling('targetKubeConfig')}`);
  if (DIRECT.slice(2).some((key) => given.has(key))) return problems;
  const [path, value] = [spelling('remoteSaTokenPath'), spelling('remoteSaToken')];
  return [...problems, `${path}, or ${value}, is required without ${spelling('targetKubeConfig')}`];
}

/**
 * What is given in vain, because something else says the same: the kubeconfig comes first, then the token's file. That
 * is the order of the Go programs, under which deployed command lines work.
 *
 * @param table where the rows are, for their spelling
 * @returns sentences for the log
 */
export function overriddenRemote(table: OptionTable<RemoteClusterOptions>, given: GivenRemote): string[] {
  const winner = (['targetKubeConfig', 'remoteSaTokenPath'] as const).find((key) => given.has(key));
  if (winner === undefined) return [];
  const rivals = winner === 'targetKubeConfig' ? BESIDE_KUBECONFIG : (['remoteSaToken'] as const);
  const losers = rivals.filter((key) => given.has(key));
  return losers.map((key) => `${spellingOf(table[key])} counts for nothing beside ${spellingOf(table[winner])}`);
}

/** What can be sent as a bearer token, with the line break that files end in. Its row is secret: the reason is never shown. */
const token: OptionType<string> = {
  label: 'token',
  format: String,
  parse: (raw) => (/^[\x21-\x7e]+$/.test(raw.trim()) ? good(raw) : bad('it is no token')),
};
