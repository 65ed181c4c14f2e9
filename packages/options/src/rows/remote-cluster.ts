import { bad, type Cidr, good } from '@kube-semaphore/net';
import { spellingOf, type AnySpec, type OptionRows, type OptionType } from '../table.ts';
import { absoluteUrl, apiServerUrl, cidrList, integer, keyHashList, rangeList, text } from '../types.ts';

/** Of a program that writes objects for remote clusters: those of a config file, or the one that these options name. */
export type RemoteClusterOptions = {
  /** CIDRs of the local cluster: remote addresses in them are skipped. */
  readonly localCidrs: readonly Cidr[] | undefined;
  /** A kubeconfig file, or the next three or four options reach the remote. */
  readonly targetKubeConfig: string | undefined;
  readonly remoteApiUrl: string | undefined;
  readonly remoteCaUrl: string | undefined;
  /** Of the CA's public key; undefined: any CA at the URL is trusted. */
  readonly remoteCaCertHash: readonly string[] | undefined;
  readonly remoteSaTokenPath: string | undefined;
  /** The token itself, instead of its file. */
  readonly remoteSaToken: string | undefined;
  /** The addresses that the remote may bring into our objects; undefined: all. */
  readonly allowedPodCidrs: readonly Cidr[] | undefined;
  /** Local writes per second that a remote may cause in the long run. */
  readonly maxRemoteWrites: number;
};

type Key = keyof RemoteClusterOptions;
type Spellings<K extends string> = Readonly<Record<K, Pick<AnySpec, 'flag' | 'env'>>>;
type GivenKeys<K extends string> = { has(key: K): boolean };

/** A bearer token, with the line break that files end in. Its row is secret: the reason is never shown. */
const token: OptionType<string> = {
  label: 'token',
  format: String,
  parse: (raw) => (/^[\x21-\x7e]+$/.test(raw.trim()) ? good(raw) : bad('it is not a valid token')),
};

/** The rows of `RemoteClusterOptions`; `remoteClusterProblems` has the rules across them. */
export const remoteClusterRows: OptionRows<RemoteClusterOptions> = {
  localCidrs: {
    flag: 'local-cidrs',
    group: 'Local cluster',
    type: cidrList,
    absent: 'none',
    help: 'CIDRs of local Pods, Services and Nodes; remote addresses in them are skipped. Overrides cidrs in the file.',
  },
  targetKubeConfig: {
    flag: 'target-kube-config',
    group: 'Remote cluster',
    type: text('file'),
    help: 'Kubeconfig of the remote, read again when it changes; or use the next options.',
  },
  remoteApiUrl: {
    flag: 'remote-api-url',
    group: 'Remote cluster',
    type: apiServerUrl,
    help: 'API server of the remote: https:; http: to this machine only, with a warning.',
  },
  remoteCaUrl: {
    flag: 'remote-ca-url',
    group: 'Remote cluster',
    type: absoluteUrl('https', 'http', 'file'),
    help: 'CA certificate of the remote API server: https:, file:, or http: (a warning without its hash).',
  },
  remoteCaCertHash: {
    flag: 'remote-ca-cert-hash',
    group: 'Remote cluster',
    type: keyHashList,
    absent: 'any',
    help: "Hash of the CA's public key, as for kubeadm's --discovery-token-ca-cert-hash; others are refused.",
  },
  remoteSaTokenPath: {
    flag: 'remote-sa-token-path',
    group: 'Remote cluster',
    type: text('file'),
    help: 'File with the token for the remote; read again when it changes.',
  },
  remoteSaToken: {
    variable: 'REMOTE_SERVICE_ACCOUNT_TOKEN',
    secret: true,
    group: 'Remote cluster',
    type: token,
    help: 'The token itself, which can not be renewed.',
  },
  allowedPodCidrs: {
    flag: 'allowed-pod-cidrs',
    group: 'Remote cluster',
    type: rangeList,
    absent: 'all',
    help: 'CIDRs of the remote Pods; other addresses are skipped.',
  },
  maxRemoteWrites: {
    flag: 'max-remote-writes',
    group: 'Limits',
    type: integer({ min: 1, max: 1_000_000 }),
    fallback: 20,
    help: 'Average local writes per second for one remote; the start and bursts may exceed it.',
  },
};

/** Together they replace a kubeconfig; one of the last two is enough. */
const DIRECT = ['remoteApiUrl', 'remoteCaUrl', 'remoteSaTokenPath', 'remoteSaToken'] as const;

/** What a kubeconfig overrides. */
const BESIDE_KUBECONFIG = [...DIRECT, 'remoteCaCertHash'] as const;

/** What a config file says for each of its remotes. */
export const remoteClusterKeys = ['targetKubeConfig', ...BESIDE_KUBECONFIG, 'allowedPodCidrs'] as const;

/** What the options of an app have to do with its config file. */
type FileRules<K extends string> = {
  /** The file says the same. */
  readonly inFile: readonly K[];
  /** Required without a file. */
  readonly required: readonly K[];
  /** Useless without a file. */
  readonly fileOnly?: readonly K[];
};

/**
 * What is wrong with the ways to the remotes: there must be a config file, or one remote and a complete way to it.
 *
 * @param table where the rows are, for their spelling
 * @returns sentences that name flag and variable
 */
export function remoteClusterProblems<K extends string>(
  table: Spellings<K | Key | 'config'>,
  given: GivenKeys<K | Key | 'config'>,
  { inFile, required, fileOnly = [] }: FileRules<K | Key>,
): string[] {
  const spelling = (key: K | Key | 'config'): string => spellingOf(table[key]);
  if (given.has('config'))
    return inFile
      .filter((key) => given.has(key))
      .map((key) => `${spelling(key)} and ${spelling('config')} exclude each other`);
  return [
    ...missingProblems(table, given, required),
    ...wayProblems(table, given),
    ...fileOnly.filter((key) => given.has(key)).map((key) => `${spelling(key)} is for ${spelling('config')} only`),
  ];
}

/** One problem per required option that isn't given. @param purpose `for cleanup` */
export function missingProblems<K extends string>(
  table: Spellings<K>,
  given: GivenKeys<K>,
  required: readonly K[],
  purpose = '',
): string[] {
  const missing = required.filter((key) => !given.has(key));
  return missing.map((key) => `${spellingOf(table[key])} is required${purpose && ` ${purpose}`}`);
}

function wayProblems(table: Spellings<Key>, given: GivenKeys<Key>): string[] {
  const spelling = (key: Key): string => spellingOf(table[key]);
  const kubeconfig = spelling('targetKubeConfig');
  if (given.has('targetKubeConfig')) return [];
  if (!DIRECT.some((key) => given.has(key)))
    return [`${kubeconfig} is required, or ${spelling('remoteApiUrl')} with its CA and token`];
  const problems = missingProblems(table, given, ['remoteApiUrl', 'remoteCaUrl'], `without ${kubeconfig}`);
  if (given.has('remoteSaTokenPath') || given.has('remoteSaToken')) return problems;
  const token = `${spelling('remoteSaTokenPath')}, or ${spelling('remoteSaToken')},`;
  return [...problems, `${token} is required without ${kubeconfig}`];
}

/**
 * What is given and ignored, because another option overrides it: the kubeconfig comes first, then the token's file.
 * That is the order of the Go programs, whose command lines must keep working.
 *
 * @param table where the rows are, for their spelling
 * @returns sentences for the log
 */
export function overriddenRemote(table: Spellings<Key>, given: GivenKeys<Key>): string[] {
  const winner = (['targetKubeConfig', 'remoteSaTokenPath'] as const).find((key) => given.has(key));
  if (winner === undefined) return [];
  const rivals = winner === 'targetKubeConfig' ? BESIDE_KUBECONFIG : (['remoteSaToken'] as const);
  const losers = rivals.filter((key) => given.has(key));
  return losers.map((key) => `${spellingOf(table[key])} is ignored: ${spellingOf(table[winner])} overrides it`);
}
