import { describe, expect, it } from 'vitest';
import { hash10 } from './hash.ts';

describe('hash10', () => {
  it('is what sha256sum prints, cut after ten digits', () => {
    // printf c2/my-ns/my-app | sha256sum
    expect(hash10('c2', 'my-ns', 'my-app')).toBe('f619fbd268');
  });
});
