import { misnamed, verificationFailure } from './trust/verification.ts';

/** What is wrong. `connect` rejects with those of the first group, `authorize` with any. */
export type ClusterAuthCode =
  /** The URL of an API server, a CA or a proxy that can't be used. */
  | 'CLUSTER_ADDRESS'
  /** A file that can't be read, or that holds more than such a file ever does. */
  | 'CLUSTER_FILE'
  /** A kubeconfig that is none, lacks something, or asks for what is refused here. */
  | 'CLUSTER_KUBECONFIG'
  /** Certificates or a private key that can't be used. */
  | 'CLUSTER_CERTIFICATE'
  /** A token or a password that can't be sent in a header. */
  | 'CLUSTER_TOKEN'
  /** In-cluster access was asked for outside a pod. */
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
 * A cluster can't be reached for a reason on this side of the API server. The message is a sentence that names the
 * file, URL or field, and holds no secret. Callers match on `code`.
 */
export class ClusterAuthError extends Error {
  override readonly name = 'ClusterAuthError';
  readonly code: ClusterAuthCode;

  constructor(code: ClusterAuthCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** A proxy or a web server in between gave something else than wanted. The message is what `reasonOf` returns. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/**
 * The reason of a failed system call or connection in a few words, without what an Error's message may repeat (a
 * path that is in our own sentence already, or a line of a file).
 *
 * @returns such as `ENOENT`, and `an error` for what has no code
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'an error';
  if (error instanceof Refusal) return error.message;
  const distrust = unsigned(error) ?? misnamed(error);
  if (distrust !== undefined) return distrust;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  const words = WORDS[code];
  return words === undefined ? code : `${words} (${code})`;
}

/**
 * What to say of an API server that answers without TLS, or whose certificate isn't accepted; undefined for other errors.
 * OpenSSL's own words name lines of its source, and those of Node.js advise a flag that doesn't apply here.
 */
export function tlsFailure(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && error.code === NOT_TLS)
    return `${WORDS[NOT_TLS]} (${NOT_TLS}): is the address that of an API server?`;
  const names = misnamed(error);
  return names === undefined
    ? unsigned(error)
    : `${names}; write one of its names in the URL, or in a kubeconfig as tls-server-name`;
}

function unsigned(error: unknown): string | undefined {
  const code = verificationFailure(error);
  return code === undefined ? undefined : `its certificate is signed by nobody who is trusted here (${code})`;
}

/** What OpenSSL finds where the first bytes of an answer are no TLS record. */
const NOT_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was cut',
  ENOTFOUND: 'there is no such host',
  [NOT_TLS]: 'it answers without TLS',
};
