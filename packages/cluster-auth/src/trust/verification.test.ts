import { describe, expect, it } from 'vitest';
import { verificationFailure } from './verification.ts';

const failed = (code: string, cause?: unknown) => Object.assign(new Error(code, { cause }), { code });

describe('verificationFailure', () => {
  it.each([
    {
      name: 'finds an unknown issuer',
      error: failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      want: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    },
    {
      name: 'finds the cause of another error',
      error: failed('X', new Error('y', { cause: failed('SELF_SIGNED_CERT_IN_CHAIN') })),
      want: 'SELF_SIGNED_CERT_IN_CHAIN',
    },
    { name: 'skips a certificate for another name', error: failed('ERR_TLS_CERT_ALTNAME_INVALID'), want: undefined },
    { name: 'skips a refused connection', error: failed('ECONNREFUSED'), want: undefined },
    { name: 'skips what is not an Error', error: 'SELF_SIGNED_CERT_IN_CHAIN', want: undefined },
  ])('$name', ({ error, want }) => {
    expect(verificationFailure(error)).toBe(want);
  });
});
