import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secrets } from './secrets.ts';

const token = `eyJhbGciOiJSUzI1NiJ9.${'QmFzZTY0IG9mIGNsYWltcw-_'.repeat(6)}.c2lnbmF0dXJlIG9mIGEgdG9rZW4`;

function holding(...secrets: readonly string[]): Secrets {
  const all = new Secrets();
  all.hold({}, secrets);
  return all;
}

describe('our own credentials in foreign text', () => {
  it.each([
    {
      name: 'a quoted header',
      text: `refused Authorization: Bearer ${token}, sorry`,
      want: 'refused Authorization: Bearer [redacted], sorry',
    },
    {
      name: 'quoted JSON',
      text: `{"authorization":["Bearer ${token}"]}`,
      want: '{"authorization":["Bearer [redacted]"]}',
    },
    { name: 'the parameter of a URL', text: `GET /x?token=${token}`, want: 'GET [redacted]' },
  ])('are taken out of $name', ({ text, want }) => {
    expect(holding(token).strip(text)).toBe(want);
  });

  it.each([
    { name: 'percent-encoded', secret: 'abc+def/ghi=jkl&mno', text: encodeURIComponent('abc+def/ghi=jkl&mno') },
    { name: 'in base64', secret: token, text: Buffer.from(`Bearer ${token}`).toString('base64') },
    { name: 'in base64, one byte later', secret: token, text: Buffer.from(`xBearer ${token}`).toString('base64') },
    { name: 'in base64, two bytes later', secret: token, text: Buffer.from(`xyBearer ${token}`).toString('base64') },
    { name: 'with a line break in it', secret: token, text: `${token.slice(0, 80)}\n${token.slice(80)}` },
  ])('are found $name', ({ secret, text }) => {
    expect(holding(secret).strip(text)).toMatch(/^\[redacted\](\n\[redacted\])?$/);
  });

  it('are found by any piece of 16 characters', () => {
    const start = fc.integer({ min: 0, max: token.length - 16 });
    const around = fc.tuple(fc.string(), fc.string());
    fc.assert(
      fc.property(start, around, (from, [before, after]) => {
        const piece = token.slice(from, from + 16);
        expect(holding('another-secret-of-ours', token).strip(before + piece + after)).not.toContain(piece);
      }),
    );
  });

  it('are found for one more rotation, by owner', () => {
    const secrets = new Secrets();
    const [one, other] = [{}, {}];
    const [first, second, third, others] = ['first-1st-', 'second-2nd-', 'third-3rd-', 'of-another-'].map((name) =>
      name.repeat(4),
    );
    secrets.hold(other, [others!]);
    for (const secret of [first!, second!, third!]) secrets.hold(one, [secret]);
    // The oldest is no longer held.
    expect([first!, second!, third!, others!].map((secret) => secrets.strip(secret))).toEqual([
      first,
      '[redacted]',
      '[redacted]',
      '[redacted]',
    ]);
  });
});

describe('other words', () => {
  it.each([
    { name: 'shorter pieces', secret: token, text: `${token.slice(0, 15)} ${token.slice(30, 45)}` },
    { name: 'words if nothing is held', secret: '', text: 'any word that is long enough: kube-apiserver-1' },
    { name: 'words with a very short secret in them', secret: 'x', text: 'exxxxxxxxxxxxxxxpected' },
    {
      name: 'words that begin like a secret',
      secret: 'kubeconfig-user-1:abcdefghijklmnop',
      text: '/etc/kubeconfig-of-ours',
    },
  ])('stay: $name', ({ secret, text }) => {
    expect(holding(secret).strip(text)).toBe(text);
  });

  it('stay, except a whole password of 8 to 15 characters', () => {
    const secrets = holding('hunter2hunter');
    expect([secrets.strip('hunter2hunter'), secrets.strip('hunter2hunt')]).toEqual(['[redacted]', 'hunter2hunt']);
  });
});
