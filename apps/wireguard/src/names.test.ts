import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  calicoDevices,
  clusterOfAnnotation,
  deviceAlias,
  deviceName,
  endpointAnnotation,
  isClusterName,
  isDeviceName,
  keyFileName,
  planesAnnotation,
  pubKeyAnnotation,
  remoteOfAlias,
} from './names.ts';

const label = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9-]{0,8}[A-Za-z0-9])?(\.[A-Za-z0-9]{1,5})?$/);

describe('names', () => {
  it('are those of the Go program', () => {
    expect([deviceName('c2'), keyFileName('c2'), pubKeyAnnotation('c2'), endpointAnnotation('c2')]).toEqual([
      'wireguard.c2',
      'wireguard.c2.key',
      'c2.wireguard.semaphore.uw.io/pubKey',
      'c2.wireguard.semaphore.uw.io/endpoint',
    ]);
  });
});

describe('isDeviceName', () => {
  it.each([
    { name: 'accepts 15 characters', text: 'wireguard.abcde', want: true },
    { name: 'refuses 16', text: 'wireguard.abcdef', want: false },
    { name: "takes Calico's, which are refused elsewhere", text: calicoDevices[0] ?? '', want: true },
    { name: 'refuses an empty name', text: '', want: false },
    { name: 'refuses a slash', text: 'a/b', want: false },
    { name: 'refuses a colon, as in an old alias', text: 'eth0:1', want: false },
    { name: 'refuses a space', text: 'a b', want: false },
    { name: 'refuses a newline', text: 'a\n', want: false },
    { name: 'refuses the current folder', text: '.', want: false },
    { name: 'refuses the parent folder', text: '..', want: false },
    { name: 'refuses what looks like a flag', text: '-json', want: false },
    { name: 'refuses a character of several bytes', text: 'ü', want: false },
  ])('$name', ({ text, want }) => {
    expect(isDeviceName(text)).toBe(want);
  });
});

describe('isClusterName', () => {
  it.each(['c2', 'C2', 'c2.eu', 'Prod-1.EU', 'a'.repeat(227)])('accepts %s', (name) => {
    expect(isClusterName(name)).toBe(true);
  });

  it.each(['', 'aws_c2', '-c2', 'c2-', 'c2.', '.c2', 'a..b', 'c/2', 'ü', '\u212A', 'c2\n', 'a'.repeat(228)])(
    'refuses %j',
    (name) => {
      expect(isClusterName(name)).toBe(false);
    },
  );
});

describe('clusterOfAnnotation', () => {
  it('finds the cluster of an annotation', () => {
    fc.assert(
      fc.property(label, (cluster) => {
        const keys = [pubKeyAnnotation(cluster), endpointAnnotation(cluster), planesAnnotation(cluster)];
        expect(keys.map(clusterOfAnnotation)).toEqual([cluster, cluster, cluster]);
      }),
    );
  });

  it.each([
    { name: 'another annotation under the prefix', key: 'c2.wireguard.semaphore.uw.io/other' },
    { name: 'another prefix', key: 'c2.wireguard.semaphore.uw.io.example.org/pubKey' },
    { name: 'an empty cluster', key: '.wireguard.semaphore.uw.io/pubKey' },
    { name: 'a cluster with an empty label', key: 'a..c2.wireguard.semaphore.uw.io/pubKey' },
    { name: 'a cluster with a letter that looks like another', key: '\u212A1.wireguard.semaphore.uw.io/pubKey' },
    { name: 'no prefix', key: 'pubKey' },
  ])('is undefined for $name', ({ key }) => {
    expect(clusterOfAnnotation(key)).toBeUndefined();
  });
});

describe('remoteOfAlias', () => {
  it('finds the remote of an alias', () => {
    fc.assert(
      fc.property(label, (remote) => {
        expect(remoteOfAlias(deviceAlias(remote))).toBe(remote);
      }),
    );
  });

  it.each([
    '',
    'c2',
    'semaphore-wireguard',
    'semaphore-wireguard ',
    'semaphore-wireguard c2 ',
    'my semaphore-wireguard c2',
  ])('is undefined for %j', (alias) => {
    expect(remoteOfAlias(alias)).toBeUndefined();
  });
});
