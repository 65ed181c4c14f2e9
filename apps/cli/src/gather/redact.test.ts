import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forms, redact } from './redact.ts';

type Row = { readonly text: string; readonly want: string };

const words = (count: number): string => 'aB3'.repeat(count).slice(0, count);
const key = 'aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd28=';
const pem = (kind: string): string => `-----BEGIN ${kind}-----\n${words(64)}\n${words(30)}==\n-----END ${kind}-----`;

/** No form is without a row. Tokens are put together here, as those who search sources for tokens know these forms, too. */
const rows: Readonly<Record<keyof typeof forms, readonly Row[]>> = {
  'a private key in PEM': [
    { text: `x ${pem('PRIVATE KEY')} y`, want: 'x [redacted] y' },
    { text: `x ${pem('OPENSSH PRIVATE KEY')} y`, want: 'x [redacted] y' },
    { text: `"x":"${pem('RSA PRIVATE KEY').replaceAll('\n', '\\n')}\\n","y":1`, want: '"x":"[redacted]\\n","y":1' },
    { text: 'x -----BEGIN EC PRIVATE KEY-----\nMHc', want: 'x [redacted]' },
    { text: `-----BEGIN PRIVATE KEY-----\n${words(64)}\n${words(9)} lost\nkept`, want: '[redacted] lost\nkept' },
  ],
  'a JWT': [{ text: `x eyJ${words(20)}.${words(30)}.${words(9)}-_ y`, want: 'x [redacted] y' }],
  'the user in a URL': [
    { text: 'get https://joe:pw@api.example/x', want: 'get https://[redacted]@api.example/x' },
    { text: 'redis://:p@ss@db:6379', want: 'redis://[redacted]@db:6379' },
  ],
  'an access key of AWS': [
    { text: 'id AKIAIOSFODNN7EXAMPLE.', want: 'id [redacted].' },
    { text: `ASIAIOSFODNN7EXAMPLE\t${words(36)}+/aB y`, want: '[redacted] y' },
    { text: `AWS_SECRET_ACCESS_KEY=${words(40)}`, want: 'AWS_SECRET_ACCESS_KEY=[redacted]' },
    { text: `"SecretAccessKey": "${words(40)}"`, want: '"SecretAccessKey": "[redacted]"' },
  ],
  'a key or token of Google': [
    { text: `?key=AIza${words(35)}&x`, want: '?key=[redacted]&x' },
    { text: `x ya29.a0${words(30)} y`, want: 'x [redacted] y' },
    {
      text: `{"private_key_id": "${'0af'.repeat(13)}", "private_key": "${pem('PRIVATE KEY').replaceAll('\n', '\\n')}\\n"}`,
      want: '{"private_key_id": "[redacted]", "private_key": "[redacted]"}',
    },
  ],
  'a token of GitHub': [
    { text: `x ghp_${words(36)} y`, want: 'x [redacted] y' },
    { text: `x github_pat_${words(22)}_${words(59)} y`, want: 'x [redacted] y' },
  ],
  'a token of GitLab': [{ text: `x glpat-${words(20)} y`, want: 'x [redacted] y' }],
  'a token of Slack': [
    { text: `x xoxb-${words(12)}-${words(24)} y`, want: 'x [redacted] y' },
    { text: `hooks.slack.com/services/T0/B0/${words(24)}`, want: 'hooks.slack.com/services/[redacted]' },
  ],
  'the signature of a URL': [
    { text: `?sv=2024-11-04&sig=${words(40)}%3D&se=x`, want: '?sv=2024-11-04&sig=[redacted]&se=x' },
    { text: '"?X-Amz-Signature=0a1b\\u0026x=y"', want: '"?X-Amz-Signature=[redacted]\\u0026x=y"' },
  ],
  'a key of WireGuard': [{ text: `"\\n${key}\\n"`, want: '"\\nkey-2bb2afa9550b\\n"' }],
  'a long text in base64': [{ text: `ca ${'QUJD'.repeat(40)}== x`, want: 'ca [redacted] x' }],
  'a bootstrap token': [
    { text: 'join abcdef.0123456789abcdef now', want: 'join [redacted] now' },
    { text: '"join\\nabcdef.0123456789abcdef"', want: '"join\\n[redacted]"' },
  ],
  'a header with credentials': [
    { text: 'Authorization: Bearer abc123def', want: 'Authorization: [redacted]' },
    { text: 'authorization: Digest user="joe", response="0a"\nx', want: 'authorization: [redacted]\nx' },
    { text: 'Cookie: a=b; c="d e"; f=g\r\nHost: x', want: 'Cookie: [redacted]\r\nHost: x' },
    { text: "curl -H 'Set-Cookie: a=b; c=d' x", want: "curl -H 'Set-Cookie: [redacted]' x" },
    { text: '"msg":"Cookie: a=b; c=\\"d e\\"; f\\nx","y":1', want: '"msg":"Cookie: [redacted]\\nx","y":1' },
    { text: '{"set-cookie":["a=b; c","d=e"],"y":1}', want: '{"set-cookie":[redacted],"y":1}' },
    { text: 'map[Authorization:[Bearer a] Cookie:[b=c; d]]', want: 'map[Authorization:[redacted] Cookie:[redacted]]' },
  ],
  'a value by its name': [
    { text: 'Server=db;Uid=joe;Pwd=hunter2;x', want: 'Server=db;Uid=joe;Pwd=[redacted];x' },
    { text: 'password: hunter2, x', want: 'password: [redacted], x' },
    { text: 'passwd = hunter2 x', want: 'passwd = [redacted] x' },
    { text: `AccountName=joe;AccountKey=${words(86)}==;x`, want: 'AccountName=joe;AccountKey=[redacted];x' },
    { text: 'API_TOKEN_OLD=abc', want: 'API_TOKEN_OLD=[redacted]' },
    { text: '--password=hunter22 -v', want: '--password=[redacted] -v' },
    { text: 'db-password: "two words", x', want: 'db-password: "[redacted]", x' },
    { text: '{"password":"a\\"b\\\\c","y":2}', want: '{"password":"[redacted]","y":2}' },
    { text: '{\\"token\\":\\"abc123\\",\\"y\\":2}', want: '{\\"token\\":\\"[redacted]\\",\\"y\\":2}' },
    { text: 'password=C:\\x\\y z', want: 'password=[redacted] z' },
    { text: 'PresharedKey = abc=\nx', want: 'PresharedKey = [redacted]\nx' },
  ],
  'credentials of HTTP': [{ text: 'sent Bearer abcdefgh x', want: 'sent Bearer [redacted] x' }],
};

const all = Object.entries(rows).flatMap(([form, of]) =>
  of.map((row) => ({ form: form as keyof typeof forms, ...row })),
);

describe('a redacted text', () => {
  it.each(all)('lacks $form: $text', ({ text, want }) => {
    expect(redact(text)).toBe(want);
  });

  it.each(all)('lacks it in the text of a log in JSON, and the log stays JSON ($form)', ({ text }) => {
    const line = (msg: string): string => JSON.stringify({ msg, level: 'info' });
    expect(JSON.parse(redact(line(text)))).toEqual({ msg: expect.any(String) as unknown, level: 'info' });
  });

  it.each([
    'reading c2: the token is not valid\nnext line',
    'Secret semaphore-policy-c2 is not found',
    'c2-shop-73736d-checkout-0123456789abcdef0123',
    'registry.example:5000/semaphore/policy@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    `sha512:${'0af1'.repeat(32)}`,
    `"\\n${'0af1'.repeat(32)}\\n"`,
    'commit 6eba87f2c1d0a9b8e7f6a5b4c3d2e1f0a9b8c7d6',
    'uid 0b5ad36a-4f2c-4b6e-9d0a-1c2b3d4e5f60',
    'key-2bb2afa9550b',
    '10.4.1.38:51820 fd00:4::26 https://c2.example:6443/api/v1/pods?limit=500&continue=abc',
    'Certificate subject=CN=joe, serial 0A:1B',
    '{"credentials":{"from":"2026-01-01T00:00:00Z","until":null},"design":"x=1"}',
  ])('keeps other words: %s', (text) => {
    expect(redact(text)).toBe(text);
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
