import * as z from 'zod/mini';
import { bearer, type Credentials } from '../credentials.ts';
import { ClusterAuthError } from '../errors.ts';
import { readKeyPair } from '../trust/pem.ts';

/** Credentials that a plugin gave, and until when they are good: milliseconds since 1970, or Infinity. */
export type ExecCredential = { readonly credentials: Credentials; readonly expiresMs: number };

/** https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ */
const execCredential = z.object({
  kind: z.literal('ExecCredential'),
  apiVersion: z.string(),
  status: z.object({
    token: z.optional(z.string()),
    clientCertificateData: z.optional(z.string()),
    clientKeyData: z.optional(z.string()),
    expirationTimestamp: z.nullish(z.string()),
  }),
});

/**
 * Reads what an exec plugin printed.
 *
 * @param apiVersion what the kubeconfig says that the plugin speaks
 * @param where names the plugin, for the error, which repeats nothing of the text
 * @throws {ClusterAuthError}
 */
export function readExecCredential(text: string, apiVersion: string, where: string): ExecCredential {
  const fail = (message: string) => new ClusterAuthError('CLUSTER_PLUGIN', `${where} ${message}`);
  const result = execCredential.safeParse(parseJson(text));
  if (!result.success) throw fail('printed no ExecCredential with a status');
  const { apiVersion: printed, status } = result.data;
  if (printed !== apiVersion) throw fail(`printed another apiVersion than ${apiVersion}, which the kubeconfig names`);

  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const expiresMs = expirationTimestamp == null ? Infinity : Date.parse(expirationTimestamp);
  if (Number.isNaN(expiresMs)) throw fail('printed an expirationTimestamp that is no time');
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
    expiresMs,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The engine's message quotes the text, which may hold a token. It is no ExecCredential either way.
    return undefined;
  }
}
