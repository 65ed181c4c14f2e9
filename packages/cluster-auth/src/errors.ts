import { misnamed, verificationFailure } from './trust/verification.ts';

/** What is wrong. `connect` rejects only with codes of the first group, `authorize` with any. */
export type ClusterAuthCode =
  /** The URL of an API server, a CA or a proxy is not valid. */
  | 'CLUSTER_ADDRESS'
  /** A file can't be read, or is too large. */
  | 'CLUSTER_FILE'
  /** A kubeconfig is not valid, is incomplete, or has a setting that we refuse. */
  | 'CLUSTER_KUBECONFIG'
  /** Certificates or a private key can't be used. */
  | 'CLUSTER_CERTIFICATE'
  /** A token can't be sent in a header. */
  | 'CLUSTER_TOKEN'
  /** In-cluster access outside of a Pod. */
  | 'CLUSTER_NO_POD'

  /** The CA couldn't be fetched from its URL. */
  | 'CLUSTER_CA_FETCH'
  /** A proxy didn't open a tunnel to the API server. */
  | 'CLUSTER_PROXY'
  /** A kubeconfig's exec plugin or auth provider gave no credentials. */
  | 'CLUSTER_PLUGIN'
  /** The connection was closed. */
  | 'CLUSTER_CLOSED';

/**
 * A cluster can't be reached for a reason on this side of the API server. The message names the file, URL or field, and
 * contains no secret. Callers match on `code`.
 */
export class ClusterAuthError extends Error {
  override readonly name = 'ClusterAuthError';
  readonly code: ClusterAuthCode;

  constructor(code: ClusterAuthCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** A proxy or a server sent an unexpected answer, or none. `reasonOf` returns the message. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** No address of a host can be reached. The message names them; `code` is that of the first. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly code: string;

  constructor(message: string, code: string) {
    super(message);
    this.code = code;
  }
}

/**
 * The reason for a failed system call or connection in a few words. The Error's message isn't used: it may repeat a
 * path or quote a file.
 *
 * @returns for example `connection refused (ECONNREFUSED)`, the code alone, or `an error` for what isn't an Error
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an error';
  if (error instanceof Refusal || error instanceof UnreachableError) return error.message;
  const distrust = unsigned(error) ?? misnamed(error);
  if (distrust !== undefined) return distrust;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const words = WORDS[code];
  return words === undefined ? code : `${words} (${code})`;
}

/**
 * What is wrong if an API server answers without TLS, or its certificate isn't accepted; undefined for other errors.
 * The messages of OpenSSL name lines of its source, and those of Node.js advise a flag that doesn't apply here.
 */
export function tlsFailure(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && error.code === NOT_TLS)
    return `${WORDS[NOT_TLS]} (${NOT_TLS}); check that this is the address of an API server`;
  const names = misnamed(error);
  return names === undefined
    ? unsigned(error)
    : `${names}; use one of its names in the URL, or as tls-server-name in a kubeconfig`;
}

function unsigned(error: unknown): string | undefined {
  const code = verificationFailure(error);
  return code === undefined ? undefined : `its certificate is not signed by a trusted CA (${code})`;
}

/** OpenSSL's error if the first bytes of an answer aren't TLS. */
const NOT_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'there is no such host',
  [NOT_TLS]: 'it answers without TLS',
};
