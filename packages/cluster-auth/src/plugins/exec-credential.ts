import * as z from 'zod/mini';
import { bearer, type Credentials } from '../credentials/credentials.ts';
import { ClusterAuthError } from '../errors.ts';
import { readKeyPair } from '../trust/pem.ts';

/** Credentials from a plugin, and when they expire: milliseconds since 1970, or Infinity. */
export type ExecCredential = { readonly credentials: Credentials; readonly expiresMs: number };

/** Go programs write missing values as the zero value. */
const text = z.pipe(
  z.nullish(z.string()),
  z.transform((value) => value || undefined),
);

/** https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ */
const execCredential = z.object({
  kind: z.literal('ExecCredential'),
  apiVersion: z.string(),
  status: z.object({
    token: text,
    clientCertificateData: text,
    clientKeyData: text,
    expirationTimestamp: z.nullish(z.string()),
  }),
});

/** Go's zero value of a time. */
const NO_TIME_MS = Date.parse('0001-01-01T00:00:00Z');

/**
 * Parses the output of an exec plugin.
 *
 * @param apiVersion of the plugin, from the kubeconfig
 * @param where names the plugin, for the error, which doesn't quote the output
 * @throws {ClusterAuthError}
 */
export function readExecCredential(text: string, apiVersion: string, where: string): ExecCredential {
  const fail = (message: string) => new ClusterAuthError('CLUSTER_PLUGIN', `${where} ${message}`);
  const result = execCredential.safeParse(parseJson(text));
  if (!result.success) throw fail('did not print an ExecCredential with a status');
  const { apiVersion: printed, status } = result.data;
  if (printed !== apiVersion) throw fail(`did not print the apiVersion ${apiVersion} of the kubeconfig`);

  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const timeMs = expirationTimestamp == null ? NO_TIME_MS : Date.parse(expirationTimestamp);
  if (Number.isNaN(timeMs)) throw fail('printed an expirationTimestamp that is not a valid time');
  if ((cert === undefined) !== (key === undefined)) throw fail('printed a certificate or a key without the other');
  if (token === undefined && cert === undefined) throw fail('printed neither a token nor a certificate');
  return {
    credentials: {
      ...(token !== undefined && { authorization: bearer(token, `${where}: the token`) }),
      ...(cert !== undefined &&
        key !== undefined && {
          keyPair: readKeyPair(
            { text: cert, where: `${where}: clientCertificateData` },
            { text: key, where: `${where}: clientKeyData` },
          ),
        }),
    },
    expiresMs: timeMs === NO_TIME_MS ? Infinity : timeMs,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The error isn't used: it quotes the text, which may contain a token.
    return undefined;
  }
}
