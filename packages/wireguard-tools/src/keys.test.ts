import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { generatePrivateKey, parsePrivateKey, parsePublicKey, PrivateKey, publicKeyOf } from './keys.ts';

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('base64'));

describe('parsePublicKey', () => {
  it('accepts the base64 of any 32 bytes', () => {
    fc.assert(
      fc.property(key, (text) => {
        fc.pre(/[^A=]/.test(text));
        expect(parsePublicKey(text)).toEqual({ ok: true, value: text });
      }),
    );
  });

  it.each([
    { name: 'nothing', raw: '' },
    { name: '31 bytes', raw: Buffer.alloc(31, 1).toString('base64') },
    { name: '33 bytes', raw: Buffer.alloc(33, 1).toString('base64') },
    { name: 'no padding', raw: 'A'.repeat(42) + 'E' },
    { name: 'a second spelling of the same bytes', raw: `${'a'.repeat(42)}B=` },
    { name: 'base64url', raw: `${'a'.repeat(41)}_A=` },
    { name: 'white space', raw: `${'a'.repeat(42)}A=\n` },
    { name: 'zeros', raw: Buffer.alloc(32).toString('base64') },
  ])('refuses $name', ({ raw }) => {
    expect(parsePublicKey(raw)).toMatchObject({ ok: false });
  });
});

describe('PrivateKey', () => {
  it('reads the text of a key file', () => {
    const text = generatePrivateKey().reveal();
    const parsed = parsePrivateKey(`${text}\n`);
    expect(parsed.ok && parsed.value.reveal()).toBe(text);
  });

  it('does not show an invalid text', () => {
    const almost = generatePrivateKey().reveal().slice(1);
    const parsed = parsePrivateKey(almost);
    expect(parsed).toMatchObject({ ok: false });
    expect(JSON.stringify(parsed)).not.toContain(almost.slice(0, 8));
  });

  it('has the public key that wg pubkey prints', () => {
    expect(publicKeyOf(new PrivateKey(Buffer.alloc(32, 7).toString('base64')))).toBe(
      'E75P6uryBMf9M1j8nAByGIHRdCeBKCJ+xnTzf3/pe20=',
    );
  });

  it('is not shown by accident', () => {
    const secret = generatePrivateKey();
    const shown = [JSON.stringify({ secret }), inspect(secret, { showHidden: true, depth: 9 })].join();
    expect(shown).not.toContain(secret.reveal());
  });

  it('differs each time', () => {
    expect(generatePrivateKey().reveal()).not.toBe(generatePrivateKey().reveal());
  });

  it('is clamped, as the kernel shows it', () => {
    for (let i = 0; i < 64; i++) {
      const bytes = Buffer.from(generatePrivateKey().reveal(), 'base64');
      expect([(bytes[0] ?? 0) & 7, (bytes[31] ?? 0) & 192]).toEqual([0, 64]);
    }
  });
});
