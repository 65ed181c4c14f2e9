import { describe, expect, it } from 'vitest';
import { base32Hash16, hash10, hash20 } from './hash.ts';

describe('hash10', () => {
  it('is the first ten digits that sha256sum prints', () => {
    // printf c2/my-ns/my-app | sha256sum
    expect(hash10('c2', 'my-ns', 'my-app')).toBe('f619fbd268');
  });
});

describe('hash20', () => {
  it('is the first twenty digits that sha256sum prints', () => {
    // printf c2/my-ns/my-app | sha256sum
    expect(hash20('c2', 'my-ns', 'my-app')).toBe('f619fbd2688a25312857');
  });

  it('distinguishes names with the same hash10', () => {
    // Found in a second, among 700,000 names.
    const [a, b] = ['web-0dntf', 'web-0fa57'].map((slice) => ['c2', 'shop', slice] as const);
    expect(hash10(...a!)).toBe(hash10(...b!));
    expect(hash20(...a!)).not.toBe(hash20(...b!));
  });
});

describe('base32Hash16', () => {
  it('begins with the ten digits that mcs-api appends to derived-', () => {
    // Python: base64.b32hexencode(hashlib.sha256(b'shop/web').digest()).decode().lower()[:16]
    expect([base32Hash16('shop', 'web'), base32Hash16('default', 'hello')]).toEqual([
      'isrlchlhrqpt5le4',
      'k5cuvo1ge4oe4djf',
    ]);
  });

  it('keeps a zero at the start', () => {
    expect(base32Hash16('shop', 'web-39')).toBe('0c400bgt1t57v616');
  });
});
