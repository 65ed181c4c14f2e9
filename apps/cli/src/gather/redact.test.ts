import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact } from './redact.ts';

const key = 'aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd28=';

describe('a redacted text', () => {
  it.each([
    { name: 'a header', text: 'Authorization: Bearer abc123def', want: 'Authorization: [redacted]' },
    { name: 'a header in JSON in JSON', text: '{\\"token\\":\\"abc123\\"}', want: '{\\"token\\":[redacted]}' },
    { name: 'a text in quotes', text: 'db-password: "two words", x', want: 'db-password: [redacted], x' },
    { name: 'a variable', text: 'API_TOKEN_OLD=abc', want: 'API_TOKEN_OLD=[redacted]' },
    { name: 'a quoted request', text: 'sent Bearer abcdefgh', want: 'sent Bearer [redacted]' },
    { name: 'a flag', text: '--password=hunter22 -v', want: '--password=[redacted] -v' },
    { name: 'a URL', text: 'get https://joe:pw@api.example/x', want: 'get https://[redacted]@api.example/x' },
    { name: 'a token of kubeadm', text: 'join abcdef.0123456789abcdef now', want: 'join [redacted] now' },
    { name: 'a long text in base64', text: `ca ${'QUJD'.repeat(40)}==`, want: 'ca [redacted]' },
    { name: 'an unfinished key', text: 'x -----BEGIN EC PRIVATE KEY-----\nMHc', want: 'x [redacted]' },
  ])('lacks $name', ({ text, want }) => {
    expect(redact(text)).toBe(want);
  });

  it.each([
    'reading c2: the token is not valid',
    'Secret semaphore-policy-c2 is not found',
    'c2-shop-73736d-checkout-0123456789abcdef0123',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    '10.4.1.38:51820 fd00:4::26',
  ])('keeps other words: %s', (text) => {
    expect(redact(text)).toBe(text);
  });

  it('is made in linear time', () => {
    const text = 'token-'.repeat(200_000);
    expect(redact(text)).toHaveLength(text.length);
  });

  it('has the same hash for the same key of WireGuard', () => {
    const [one, other, third] = redact(`${key} ${key} ${key.replace('a', 'b')}`).split(' ');
    expect(one).toMatch(/^key-[\da-f]{12}$/);
    expect([one === other, one === third]).toEqual([true, false]);
  });

  it('has no piece of a token or of a key, wherever it was', () => {
    const secrets = [
      `eyJhbGciOiJSUzI1NiJ9.${'claims09'.repeat(9)}.${'sig-_x'.repeat(9)}`,
      `-----BEGIN PRIVATE KEY-----\n${'MIIEvQ+/'.repeat(20)}\n-----END PRIVATE KEY-----`,
    ];
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...secrets), fc.string(), (before, secret, after) => {
        const text = redact(`${before}${secret} ${after}`);
        for (let at = 28; at + 16 <= secret.length - 26; at++) expect(text).not.toContain(secret.slice(at, at + 16));
      }),
    );
  });
});
