import { describe, expect, it } from 'vitest';
import { contextOf } from './context.ts';
import { mergeKubeconfigs } from './merge.ts';
import { parseKubeconfig } from './schema.ts';

const V1 = 'client.authentication.k8s.io/v1';

/** The text of a kubeconfig with one cluster and one user, and with some fields replaced. */
function kubeconfig({
  cluster = {},
  user = {},
  ...rest
}: { cluster?: object; user?: object; [key: string]: unknown } = {}) {
  return JSON.stringify({
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'east', user: 'jane' } }],
    clusters: [{ name: 'east', cluster: { server: 'https://east:6443', ...cluster } }],
    users: [{ name: 'jane', user }],
    ...rest,
  });
}

const read = (text: string) => contextOf(mergeKubeconfigs([{ path: 'k', config: parseKubeconfig(text, 'k') }]));

describe('parseKubeconfig', () => {
  it('reads YAML, with anchors', () => {
    const text = 'users:\n- name: a\n  user: &x\n    token: t\n- name: b\n  user: *x\n';
    expect(parseKubeconfig(text, 'k').users[1]?.user.token).toBe('t');
  });

  it('ignores unknown fields', () => {
    const text = kubeconfig({
      kind: 'Config',
      preferences: { colors: true },
      cluster: { 'disable-compression': true },
    });
    expect(read(text).cluster.server).toBe('https://east:6443');
  });

  it('reads null and empty as missing, as Go does', () => {
    const { cluster, user } = read(
      kubeconfig({ cluster: { 'tls-server-name': '', 'proxy-url': null }, user: { token: null } }),
    );
    expect([cluster['tls-server-name'], cluster['proxy-url'], user.token]).toEqual([undefined, undefined, undefined]);
    // Then the environment may name a proxy.
    expect(read(kubeconfig({ cluster: { 'proxy-url': '' } })).cluster['proxy-url']).toBeUndefined();
  });

  it('reads a user without a value as an anonymous one', () => {
    expect(read(kubeconfig({ users: [{ name: 'jane' }] })).user['as-groups']).toEqual([]);
  });

  it.each([
    { name: 'a list', text: '[]', want: 'kubeconfig k: the file must be a map' },
    {
      name: 'broken YAML, with its line',
      text: 'users:\n- name: [secret',
      want: /^kubeconfig k: line 2 is not valid YAML \([A-Z_]+\)$/,
    },
    {
      name: 'an alias without an anchor',
      text: 'users: *secret',
      want: "kubeconfig k: its YAML aliases can't be resolved",
    },
    {
      name: 'more nested maps than a parser can follow',
      text: `${Array.from({ length: 4_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')}\nb: 1`,
      want: 'kubeconfig k: its YAML is nested too deeply',
    },
    {
      name: 'a repeated key',
      text: 'users: []\nusers: []',
      want: /^kubeconfig k: line 2 is not valid YAML \(DUPLICATE_KEY\)$/,
    },
    {
      name: 'a token that is a number',
      text: kubeconfig({ user: { token: 123456 } }),
      want: /users\[0\]\.user\.token must be text/,
    },
    {
      name: 'a flag that is a word',
      text: 'clusters: [{name: a, cluster: {insecure-skip-tls-verify: yes}}]',
      want: /must be true or false$/,
    },
    { name: 'users that are not a list', text: 'users: {}', want: 'kubeconfig k: users must be a list' },
    {
      name: 'a cluster that is not a map',
      text: 'clusters: [{name: a, cluster: secret}]',
      want: 'kubeconfig k: clusters[0].cluster must be a map',
    },
    { name: 'another kind', text: 'kind: secret', want: 'kubeconfig k: kind must be Config' },
    { name: 'another version', text: 'apiVersion: v2', want: 'kubeconfig k: apiVersion must be v1' },
  ])('refuses $name', ({ text, want }) => {
    expect(() => parseKubeconfig(text, 'k')).toThrow(expect.objectContaining({ code: 'CLUSTER_KUBECONFIG' }));
    expect(() => parseKubeconfig(text, 'k')).toThrow(want);
    expect(() => parseKubeconfig(text, 'k')).not.toThrow(/secret|123456/);
  });
});

describe('contextOf', () => {
  it('resolves the cluster and the user of the context', () => {
    const contexts = [
      { name: 'other', context: { cluster: 'west', user: 'joe' } },
      { name: 'main', context: { cluster: 'east', user: 'jane' } },
    ];
    expect(read(kubeconfig({ contexts, user: { token: 't' } }))).toMatchObject({
      cluster: { server: 'https://east:6443' },
      from: { cluster: { name: 'east', path: 'k' }, user: { name: 'jane', path: 'k' } },
      user: { token: 't' },
    });
  });

  it('ignores invalid entries that the context does not refer to', () => {
    const clusters = [
      { name: 'east', cluster: { server: 'https://east' } },
      { name: 'lab', cluster: { server: 'https://lab', 'insecure-skip-tls-verify': true } },
    ];
    expect(read(kubeconfig({ clusters })).from.cluster.name).toBe('east');
  });

  it.each([
    { name: 'no current-context', config: { 'current-context': '' }, want: 'it has no current-context' },
    { name: 'a missing context', config: { 'current-context': 'x' }, want: 'there is no context "x"' },
    { name: 'a missing cluster', config: { clusters: [] }, want: 'there is no cluster "east"' },
    { name: 'a missing user', config: { users: null }, want: 'there is no user "jane"' },
    {
      name: 'two entries with one name',
      config: { users: [{ name: 'jane' }, { name: 'jane' }] },
      want: 'there are two entries of user "jane"',
    },
    {
      name: 'a context without a user',
      config: { contexts: [{ name: 'main', context: { cluster: 'east' } }] },
      want: 'context "main" has no user',
    },
    {
      name: 'a context without a cluster',
      config: { contexts: [{ name: 'main', context: {} }] },
      want: 'context "main" has no cluster',
    },
    { name: 'a cluster without a server', config: { cluster: { server: '' } }, want: 'cluster "east" has no server' },
    {
      name: 'a CA that is not used',
      config: { cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': 'a' } },
      want: 'cluster "east" has both insecure-skip-tls-verify and certificate-authority-data',
    },
    {
      name: 'a CA twice',
      config: { cluster: { 'certificate-authority': 'a', 'certificate-authority-data': 'b' } },
      want: 'cluster "east" has both certificate-authority and certificate-authority-data',
    },
    {
      name: 'a certificate without a key',
      config: { user: { 'client-certificate': 'a' } },
      want: 'has a client certificate without client-key or client-key-data',
    },
    {
      name: 'a certificate twice',
      config: { user: { 'client-certificate': 'a', 'client-certificate-data': 'b', 'client-key': 'c' } },
      want: 'both client-certificate and',
    },
    {
      name: 'a key twice',
      config: { user: { 'client-certificate': 'a', 'client-key': 'c', 'client-key-data': 'd' } },
      want: 'both client-key and',
    },
    {
      name: 'a token and a password',
      config: { user: { token: 't', username: 'u' } },
      want: 'both token and username',
    },
    {
      name: "a token's file and a password",
      config: { user: { tokenFile: 't', username: 'u' } },
      want: 'both tokenFile and username',
    },
    { name: 'a password alone', config: { user: { password: 'p' } }, want: 'a password without username' },
    {
      name: 'groups without a user',
      config: { user: { 'as-groups': ['g'] } },
      want: 'as-uid, as-groups or as-user-extra without as',
    },
    {
      name: 'two plugins',
      config: { user: { exec: { command: 'c', apiVersion: V1 }, 'auth-provider': { name: 'oidc' } } },
      want: 'both exec and auth-provider',
    },
    {
      name: 'an unsupported provider',
      config: { user: { 'auth-provider': { name: 'gcp' } } },
      want: 'the auth-provider "gcp", which is not supported',
    },
    {
      name: 'a plugin without a command',
      config: { user: { exec: { command: '', apiVersion: V1 } } },
      want: 'an exec without a command',
    },
    {
      name: 'a plugin with an old version',
      config: { user: { exec: { command: 'c', apiVersion: 'client.authentication.k8s.io/v1alpha1' } } },
      want: 'apiVersion must be',
    },
    {
      name: 'a plugin without an interactiveMode',
      config: { user: { exec: { command: 'c', apiVersion: V1 } } },
      want: 'interactiveMode must be',
    },
    {
      name: 'an interactive plugin',
      config: { user: { exec: { command: 'c', apiVersion: V1, interactiveMode: 'Always' } } },
      want: 'the interactiveMode Always',
    },
  ])('refuses $name', ({ config, want }) => {
    expect(() => read(kubeconfig(config))).toThrow(expect.objectContaining({ code: 'CLUSTER_KUBECONFIG' }));
    expect(() => read(kubeconfig(config))).toThrow(want);
    expect(() => read(kubeconfig(config))).toThrow(/^kubeconfig k: /);
  });
});
