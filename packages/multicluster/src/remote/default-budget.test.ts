import { describe, expect, it } from 'vitest';
import { defaultRemoteMib } from './default-budget.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

describe('defaultRemoteMib', () => {
  it.each([
    { name: 'a quarter of the limit', limit: 768 * MIB, total: 16 * GIB, mib: 192 },
    { name: '64 MiB under a small limit', limit: 128 * MIB, total: 16 * GIB, mib: 64 },
    { name: 'a quarter of a large limit', limit: 8 * GIB, total: 16 * GIB, mib: 2_048 },
    { name: 'a quarter of the machine without a limit', limit: 0, total: 2 * GIB, mib: 512 },
    { name: '1 GiB of a large machine without a limit', limit: 0, total: 64 * GIB, mib: 1_024 },
    { name: '1 GiB where the limit is that of cgroup v1 for none', limit: 2 ** 63, total: 64 * GIB, mib: 1_024 },
  ])('is $name', ({ limit, total, mib }) => {
    expect(defaultRemoteMib(limit, total)).toBe(mib);
  });
});
