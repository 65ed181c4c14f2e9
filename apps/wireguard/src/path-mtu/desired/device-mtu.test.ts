import { describe, expect, it } from 'vitest';
import { cidr } from '../../../test/support/builders.ts';
import { deviceMtu } from './device-mtu.ts';

describe('deviceMtu', () => {
  const [v4, v6] = [[cidr('10.4.0.0/16')], [cidr('10.4.0.0/16'), cidr('fd00:4::/48')]];

  it.each([
    { name: 'is unknown without a path', paths: [], podSubnets: v4, want: undefined },
    { name: 'fits the narrowest path', paths: [9000, 1400, 1500], podSubnets: v6, want: 1320 },
    { name: 'is large where all paths are', paths: [9000], podSubnets: v6, want: 8920 },
    { name: 'carries IPv6 on any path', paths: [1300], podSubnets: v6, want: 1280 },
    { name: 'is small for IPv4 alone', paths: [1300], podSubnets: v4, want: 1220 },
  ])('$name', ({ paths, podSubnets, want }) => {
    expect(deviceMtu(paths, podSubnets)).toBe(want);
  });
});
