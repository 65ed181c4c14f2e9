import { describe, expect, it } from 'vitest';
import { pod } from './builders.ts';

describe('pod', () => {
  it.each([14_000, 15_000, 40_000])('has about %i bytes of JSON with sizeBytes', (sizeBytes) => {
    const size = JSON.stringify(pod({ name: 'web-1', labels: { app: 'web' }, ips: ['192.0.2.1'], sizeBytes })).length;
    expect(Math.abs(size - sizeBytes)).toBeLessThan(100);
  });

  it('is small by default, and has the given status', () => {
    const small = pod({
      name: 'a',
      namespace: 'n',
      labels: { l: '1' },
      ips: ['192.0.2.1', '2001:db8::1'],
      hostNetwork: true,
      nodeName: 'n1',
    });
    expect(small).toEqual({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', namespace: 'n', labels: { l: '1' } },
      spec: { containers: [{ name: 'app', image: 'registry.example/app:1' }], hostNetwork: true, nodeName: 'n1' },
      status: {
        phase: 'Running',
        qosClass: 'BestEffort',
        podIP: '192.0.2.1',
        podIPs: [{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }],
      },
    });
  });

  it.each([
    { options: {}, phase: 'Pending' },
    { options: { ips: ['192.0.2.1'] }, phase: 'Running' },
    { options: { ips: ['192.0.2.1'], phase: 'Succeeded' as const }, phase: 'Succeeded' },
  ])('with $options is $phase', ({ options, phase }) => {
    expect(pod({ name: 'a', ...options })['status']).toMatchObject({ phase });
  });
});
