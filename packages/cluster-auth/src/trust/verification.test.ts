import { describe, expect, it } from 'vitest';
import { verificationFailure } from './verification.ts';

const failed = (code: string, cause?: unknown) => Object.assign(new Error(code, { cause }), { code });

describe('verificationFailure', () => {
  it.each([
    {
      name: 'takes an unknown issuer',
      error: failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      want: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    },
    {
      name: 'takes one that another error wraps',
      error: failed('X', new Error('y', { cause: failed('SELF_SIGNED_CERT_IN_CHAIN') })),
      want: 'SELF_SIGNED_CERT_IN_CHAIN',
    },
    { name: 'leaves a certificate for another name', error: failed('ERR_TLS_CERT_ALTNAME_INVALID'), want: undefined },
    { name: 'leaves a refused connection', error: failed('ECONNREFUSED'), want: undefined },
    { name: 'leaves what is no error', error: 'SELF_SIGNED_CERT_IN_CHAIN', want: undefined },
  ])('$name', ({ error, want }) => {
    expect(verificationFailure(error)).toBe(want);
  });
});
