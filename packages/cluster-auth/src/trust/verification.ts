/**
 * OpenSSL's reasons to refuse a chain that a change of the CA can be behind. A certificate for another name
 * (ERR_TLS_CERT_ALTNAME_INVALID) is not among them: no CA makes it right.
 */
const CODES: ReadonlySet<string> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'INVALID_CA',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** OpenSSL's reason if an error, or one that caused it, says that the server's certificate isn't signed by whom we trust. */
export function verificationFailure(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && CODES.has(at.code)) return at.code;
  }
  return undefined;
}
