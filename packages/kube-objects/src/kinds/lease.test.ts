import { describe, expect, it } from 'vitest';
import { Codec } from '../codec.ts';
import { leaseKind, microTime } from './lease.ts';

describe('microTime', () => {
  it('has six fractional digits', () => {
    expect(microTime(Date.UTC(2025, 10, 21, 8, 5, 9, 70))).toBe('2025-11-21T08:05:09.070000Z');
  });
});

describe('leaseKind', () => {
  const type = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
  const codec = new Codec(leaseKind);

  it('has everything that a PUT must send back', () => {
    const kept = { labels: { a: 'b' }, ownerReferences: [{ name: 'x' }], finalizers: ['example.com/f'] };
    const metadata = { name: 'policy', ...kept };
    expect(codec.objectFromJson({ ...type, metadata }).metadata).toMatchObject(metadata);
  });

  it('reads a Lease that was never held', () => {
    expect(codec.objectFromJson({ ...type, metadata: { name: 'policy' } }).spec).toEqual({
      holderIdentity: '',
      leaseDurationSeconds: 0,
      acquireTime: '',
      renewTime: '',
      leaseTransitions: 0,
    });
  });
});
