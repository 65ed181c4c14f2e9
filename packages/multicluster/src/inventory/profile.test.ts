import { Codec, clusterProfileKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { podCidrsAnnotation, readProfile, storedProfile } from './profile.ts';
import type { Provider } from './providers.ts';

const ARGS = 'clusterprofiles.multicluster.x-k8s.io/exec/additional-args';
const ENVS = 'clusterprofiles.multicluster.x-k8s.io/exec/additional-envs';
const CONFIG = 'client.authentication.k8s.io/exec';

const plugin = {
  apiVersion: 'client.authentication.k8s.io/v1',
  command: './reader',
  args: ['-v'],
  env: [{ name: 'A', value: 'ours' }],
  provideClusterInfo: true,
};
const provider = (more: Partial<Provider> = {}): Provider => ({
  name: 'reader',
  execConfig: plugin,
  profileSourcedCLIArgsPolicy: 'Ignore',
  profileSourcedEnvVarsPolicy: 'Ignore',
  ...more,
});

const extensions = [
  { name: CONFIG, extension: { clusterName: 'spoke-1' } },
  { name: ARGS, extension: ['--scope', 'x'] },
  { name: ENVS, extension: { A: 'theirs', B: 'b' } },
];
const cluster = { server: 'https://10.0.0.1', 'certificate-authority-data': 'QQ==', extensions };

type Status = Readonly<Record<string, unknown>>;

function read(
  status: Status = {},
  {
    annotations = { [podCidrsAnnotation]: '10.4.0.0/16, fd00::/48' },
    providers = [provider()],
  }: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly providers?: readonly Provider[];
  } = {},
) {
  const object = {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ClusterProfile',
    metadata: { name: 'c2', namespace: 'fleet', uid: 'u', annotations },
    status: { accessProviders: [{ name: 'reader', cluster }], ...status },
  };
  const list = {
    apiVersion: 'multicluster.x-k8s.io/v1alpha1',
    kind: 'ClusterProfileList',
    metadata: { resourceVersion: '1' },
    items: [object],
  };
  const { items } = new Codec(clusterProfileKind).pageFromJson(list);
  return readProfile(storedProfile(items[0]!), { path: '/etc/providers.json', all: providers });
}

const contextOf = (...input: Parameters<typeof read>) => {
  const found = read(...input);
  return found.ok ? found.value.reference.context : found;
};
const execOf = (more: Partial<Provider>) => {
  const context = contextOf({}, { providers: [provider(more)] });
  return 'user' in context ? context.user.exec : context;
};

describe('a ClusterProfile', () => {
  it('is a remote, reached by a plugin of ours', () => {
    expect(read()).toMatchObject({
      ok: true,
      value: { profile: 'fleet/c2', name: 'c2', allowedPodCIDRs: ['10.4.0.0/16', 'fd00::/48'] },
    });
    expect(contextOf()).toMatchObject({
      cluster: { server: 'https://10.0.0.1', 'certificate-authority-data': 'QQ==' },
      user: { exec: { command: './reader', args: ['-v'], provideClusterInfo: true, interactiveMode: 'Never' } },
      from: {
        cluster: { what: 'ClusterProfile', path: 'fleet/c2' },
        user: { name: 'reader', path: '/etc/providers.json' },
      },
    });
  });

  it('has the name of the property in the ClusterSet', () => {
    const properties = [
      { name: 'region', value: 'eu' },
      { name: 'cluster.clusterset.k8s.io', value: 'west' },
    ];
    expect(read({ properties })).toMatchObject({ value: { name: 'west' } });
  });

  it('may still have its access in the deprecated field, which the other one overrides', () => {
    const old = [{ name: 'reader', cluster: { server: 'https://10.0.0.9' } }];
    expect(contextOf({ accessProviders: [], credentialProviders: old })).toMatchObject({
      cluster: { server: 'https://10.0.0.9' },
    });
    expect(contextOf({ credentialProviders: old })).toMatchObject({ cluster: { server: 'https://10.0.0.1' } });
  });

  it('is reached by the first plugin of the file that it names', () => {
    const accessProviders = ['second', 'first'].map((name) => ({ name, cluster: { server: `https://${name}` } }));
    const providers = [provider({ name: 'first' }), provider({ name: 'second' })];
    expect(contextOf({ accessProviders }, { providers })).toMatchObject({ cluster: { server: 'https://first' } });
  });

  it('gives a plugin arguments and variables only if the file lets it', () => {
    expect(execOf({})).toMatchObject({ args: ['-v'], env: [{ name: 'A', value: 'ours' }] });
    expect(execOf({ profileSourcedCLIArgsPolicy: 'Append' })).toMatchObject({ args: ['-v', '--scope', 'x'] });
    const [ours, theirs, b] = [
      { name: 'A', value: 'ours' },
      { name: 'A', value: 'theirs' },
      { name: 'B', value: 'b' },
    ];
    expect(execOf({ profileSourcedEnvVarsPolicy: 'AppendIfNotExists' })).toMatchObject({ env: [ours, b] });
    expect(execOf({ profileSourcedEnvVarsPolicy: 'Replace' })).toMatchObject({ env: [theirs, b] });
  });

  it.each<{ name: string; status?: Status; annotations?: Readonly<Record<string, string>>; want: string }>([
    { name: 'without the ranges of its Pods', annotations: {}, want: `it has no annotation ${podCidrsAnnotation}` },
    { name: 'without access', status: { accessProviders: [] }, want: 'that /etc/providers.json names' },
    {
      name: 'with a name that is no name',
      status: { properties: [{ name: 'cluster.clusterset.k8s.io', value: `x\u202e${'y'.repeat(900)}` }] },
      want: '"x\\u202eyyy',
    },
    {
      name: 'with a port that is none',
      annotations: { [podCidrsAnnotation]: '10.4.0.0/16', 'semaphore.uw.io/wg-listen-port': '1e3' },
      want: 'semaphore.uw.io/wg-listen-port: "1e3" is not a port',
    },
    {
      name: 'with more ranges than a cluster has',
      annotations: { [podCidrsAnnotation]: Array.from({ length: 101 }, (_, i) => `10.${i}.0.0/16`).join(',') },
      want: `its annotation ${podCidrsAnnotation} has more than 100 ranges`,
    },
    ...[
      { cluster: { server: 'http://127.0.0.1:8001' }, want: 'has a server that is no https: URL' },
      { cluster: { server: 'file:///etc/passwd' }, want: 'has a server that is no https: URL' },
      { cluster: { ...cluster, 'certificate-authority': '/var/run/secrets/token' }, want: 'has a file as certificate' },
      { cluster: { ...cluster, 'insecure-skip-tls-verify': true }, want: 'has insecure-skip-tls-verify' },
      { cluster: { ...cluster, server: 7 }, want: 'has a server that is not valid' },
      { cluster: 'x', want: 'has no valid settings' },
      { cluster: undefined, want: 'has no' },
    ].map(({ cluster: other, want }) => ({
      name: `with ${JSON.stringify(other)}`,
      status: { accessProviders: [{ name: 'reader', cluster: other }] },
      want,
    })),
  ])('is no remote $name', ({ status, annotations, want }) => {
    const found = read(status, annotations === undefined ? {} : { annotations });
    expect(found).toMatchObject({ ok: false, reason: expect.stringContaining(want) });
    expect((found as { reason: string }).reason.length).toBeLessThan(300);
  });

  it.each([
    'PATH',
    'Path',
    'LD_PRELOAD',
    'BASH_ENV',
    'BASH_FUNC_ls%%',
    'ENV',
    'NODE_OPTIONS',
    'PYTHONPATH',
    'PERL5OPT',
    'RUBYOPT',
    'JAVA_TOOL_OPTIONS',
    'OPENSSL_CONF',
  ])('is no remote if it gives its plugin the variable %s, by which it would choose a program', (name) => {
    const others = [{ name: ENVS, extension: { B: 'b', [name]: '/tmp' } }];
    const status = { accessProviders: [{ name: 'reader', cluster: { ...cluster, extensions: others } }] };
    for (const profileSourcedEnvVarsPolicy of ['AppendIfNotExists', 'Replace'] as const)
      expect(read(status, { providers: [provider({ profileSourcedEnvVarsPolicy })] })).toMatchObject({
        ok: false,
        reason: expect.stringContaining(`"${name}", which could choose a program`),
      });
    expect(read(status).ok).toBe(true);
  });

  it.each([{ others: [null] }, { others: [{ name: 'x' }] }, { others: [{}] }])(
    'is a remote with the empty extensions $others',
    ({ others }) => {
      const accessProviders = [{ name: 'reader', cluster: { ...cluster, extensions: others } }];
      expect(read({ accessProviders })).toMatchObject({ ok: true });
    },
  );

  it('names no program, whatever its access says', () => {
    const accessProviders = [{ name: 'reader', cluster: { ...cluster, exec: { command: '/bin/sh' } } }];
    expect(JSON.stringify(contextOf({ accessProviders }))).not.toContain('/bin/sh');
  });
});
