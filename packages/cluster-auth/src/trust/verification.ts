import { parseIp } from '@kube-semaphore/net';

/**
 * OpenSSL's reasons to refuse a chain that another CA may solve. A certificate for another name
 * (ERR_TLS_CERT_ALTNAME_INVALID) isn't one.
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

/** OpenSSL's reason if an error or its cause says that no trusted CA signed the server's certificate. */
export function verificationFailure(error: unknown): string | undefined {
  return causes(error).find(({ code }) => CODES.has(code))?.code;
}

/** An error lists at most this many names. */
const MAX_NAMES = 10;

/** The names of a certificate as Node.js lists them; a quoted name has a comma and isn't a server's. */
const NAME = /(?:DNS|IP Address):([^,"]+)/g;

/** Which names a trusted certificate has, if an error says that it lacks the requested one. */
export function misnamed(error: unknown): string | undefined {
  const refusal:
    | (CodedError & { host?: string; cert?: { subject?: { CN?: string }; subjectaltname?: string } })
    | undefined = causes(error).find(({ code }) => code === 'ERR_TLS_CERT_ALTNAME_INVALID');
  if (refusal === undefined) return undefined;
  const { subjectaltname = '', subject } = refusal.cert ?? {};
  const listed = [...subjectaltname.matchAll(NAME)].map(([, name = '']) => canonical(name));
  const names = listed.length > 0 ? listed : [subject?.CN ?? 'none'];
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return `its certificate is for another name: it is for ${names.slice(0, MAX_NAMES).join(', ')}${more}, not ${refusal.host}`;
}

function canonical(name: string): string {
  const ip = parseIp(name);
  return ip.ok ? ip.value : name;
}

type CodedError = Error & { readonly code: string };

/** An error and its causes that have a code. */
function causes(error: unknown): readonly CodedError[] {
  if (!(error instanceof Error)) return [];
  const rest = causes(error.cause);
  return 'code' in error && typeof error.code === 'string' ? [error as CodedError, ...rest] : rest;
}
