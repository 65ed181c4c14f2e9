import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import {
  addressFields,
  localReference,
  overriddenAddresses,
  remoteReference,
  sharedServers,
} from './cluster-references.ts';
import { parseConfigFile } from './config-file.ts';

const direct = { remoteAPIURL: 'https://c3', remoteCAURL: 'file:///ca', remoteSATokenPath: '/token' };

describe('localReference', () => {
  it.each([undefined, ''])('is the cluster of our pod for %j', (path) => {
    expect(localReference(path)).toEqual({ kind: 'in-cluster' });
  });

  it('is a kubeconfig if there is one', () => {
    expect(localReference('/c1')).toEqual({ kind: 'kubeconfig', path: '/c1' });
  });
});

describe('remoteReference', () => {
  it('is a kubeconfig, whatever else there is', () => {
    expect(remoteReference({ ...direct, kubeConfigPath: '/c2' })).toEqual({
      ok: true,
      value: { kind: 'kubeconfig', path: '/c2' },
    });
  });

  it('is an API server, with its CA and a token', () => {
    const value = { kind: 'api-server', apiUrl: 'https://c3', caUrl: 'file:///ca', token: { path: '/token' } };
    expect(remoteReference({ ...direct, kubeConfigPath: '' })).toEqual({ ok: true, value });
  });

  it('has the hashes of the keys of its CA', () => {
    expect(remoteReference({ ...direct, remoteCACertHash: ['sha256:aa'] })).toMatchObject({
      ok: true,
      value: { caHashes: ['sha256:aa'] },
    });
  });

  it.each(['remoteAPIURL', 'remoteCAURL', 'remoteSATokenPath'])('requires %s', (field) => {
    expect(remoteReference({ ...direct, [field]: '' })).toMatchObject({ ok: false });
  });
});

describe('remoteCACertHash', () => {
  const remote = z.strictObject(addressFields);
  const read = (source: string) => parseConfigFile(source, remote, { unknownKeys: 'error' });
  const hash = `sha256:${'a'.repeat(64)}`;

  it.each([
    { name: 'one', source: `remoteCACertHash: ${hash}`, want: { remoteCACertHash: [hash] } },
    { name: 'several', source: `remoteCACertHash: ${hash},${hash}`, want: { remoteCACertHash: [hash, hash] } },
    { name: 'none', source: '{}', want: {} },
    { name: 'undefined if it is empty', source: 'remoteCACertHash: ""', want: { remoteCACertHash: undefined } },
  ])('is $name', ({ source, want }) => {
    expect(read(source)).toEqual({ ok: true, value: want, warnings: [] });
  });

  it('is a problem of its field if it is anything else', () => {
    expect(read('remoteCACertHash: abc')).toEqual({
      ok: false,
      problems: ['remoteCACertHash: "abc" is not sha256: and 64 hex digits'],
    });
  });
});

describe('overriddenAddresses', () => {
  it('names what a kubeconfig overrides, and nothing else', () => {
    const remotes = [
      direct,
      { kubeConfigPath: '/c2', remoteCAURL: '' },
      { ...direct, remoteCACertHash: ['sha256:aa'], kubeConfigPath: '/c3', remoteSATokenPath: '' },
    ];
    expect(overriddenAddresses(remotes, 'remotes')).toEqual([
      'remotes[2].remoteAPIURL is ignored: kubeConfigPath overrides it',
      'remotes[2].remoteCAURL is ignored: kubeConfigPath overrides it',
      'remotes[2].remoteCACertHash is ignored: kubeConfigPath overrides it',
    ]);
  });
});

it('names clusters that have the API server of an earlier one', () => {
  const at = (name: string, url: string) => ({ at: name, server: new URL(url) });
  const clusters = [
    at('-kube-config', 'https://c1:6443'),
    at('remotes[0]', 'https://c2:6443'),
    at('remotes[1]', 'https://C1:6443/'),
  ];
  expect(sharedServers(clusters)).toEqual([
    'remotes[1] leads to the same API server as -kube-config: is it the right cluster?',
  ]);
});
