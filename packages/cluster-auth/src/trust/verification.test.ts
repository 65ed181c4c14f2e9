import { describe, expect, it } from 'vitest';
import { isVerificationFailure } from './verification.ts';

const failed = (code: string, cause?: unknown) => Object.assign(new Error(code, { cause }), { code });

describe('isVerificationFailure', () => {
  it.each([
    { name: 'takes an unknown issuer', error: failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), want: true },
    {
      name: 'takes one that another error wraps',
      error: failed('X', new Error('y', { cause: failed('SELF_SIGNED_CERT_IN_CHAIN') })),
      want: true,
    },
    { name: 'leaves a certificate for another name', error: failed('ERR_TLS_CERT_ALTNAME_INVALID'), want: false },
    { name: 'leaves a refused connection', error: failed('ECONNREFUSED'), want: false },
    { name: 'leaves what is no error', error: 'SELF_SIGNED_CERT_IN_CHAIN', want: false },
  ])('$name', ({ error, want }) => {
    expect(isVerificationFailure(error)).toBe(want);
  });
});
