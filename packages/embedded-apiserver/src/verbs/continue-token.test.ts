import { describe, expect, it } from 'vitest';
import { decodeContinue, encodeContinue } from './continue-token.ts';

describe('a continue token', () => {
  it.each([
    { revision: 7, start: 'a/b\0' },
    { revision: 'inconsistent' as const, start: 'x' },
  ])('keeps %o', (token) => {
    expect(decodeContinue(encodeContinue(token))).toEqual(token);
  });

  it.each(['', 'x', 'e30', Buffer.from('{"v":"other","rv":1,"start":"a"}').toString('base64url')])(
    'is not %j',
    (text) => {
      expect(() => decodeContinue(text)).toThrow('invalid continue token');
    },
  );
});
