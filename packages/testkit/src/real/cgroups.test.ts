import { expect, it } from 'vitest';
import { enterCgroups, hierarchiesIn } from './cgroups.ts';

it('names the hierarchies of cgroup v1 and the one of v2 beside them', () => {
  expect(hierarchiesIn('9:name=systemd:/\n4:memory:/a/b\n2:cpu,cpuacct:/a:b\n0::/\n')).toEqual([
    { name: 'systemd', path: '/' },
    { name: 'memory', path: '/a/b' },
    { name: 'cpu,cpuacct', path: '/a:b' },
    { name: 'unified', path: '/' },
  ]);
});

it('runs a program that has no control groups as it is', () => {
  expect(enterCgroups([], 'etcd', ['-a'])).toEqual(['etcd', ['-a']]);
});
