import { resolveOptions } from '@kube-semaphore/options';
import { describe, expect, it } from 'vitest';
import { options, overridden, program, validate } from './options.ts';

const KUBECONFIG = ['-target-cluster-name=c2', '-target-kube-config=f'];
const TOKEN = '-remote-sa-token-path=t';
const DIRECT = ['-target-cluster-name=c2', '-remote-api-url=https://c2:6443', '-remote-ca-url=file:///ca.crt'];

const resolve = (argv: string[], env: Record<string, string> = {}) =>
  resolveOptions(options, { program: { ...program, version: '1.2.3' }, argv, env, validate });

/** The problems of a command line, without the line that points to -help. */
async function problems(argv: string[], env: Record<string, string> = {}): Promise<string[]> {
  const resolution = await resolve(argv, env);
  const text = resolution.kind === 'exit' ? (resolution.stderr ?? '') : '';
  return text
    .split('\n')
    .slice(0, -2)
    .map((line) => line.replace('semaphore-policy: ', ''));
}

describe('the options of policy', () => {
  it('have the documented defaults', async () => {
    const resolution = await resolve(KUBECONFIG);
    expect(resolution.kind === 'run' && resolution.config).toEqual({
      localKubeConfig: undefined,
      config: undefined,
      targetKubeConfig: 'f',
      allowedPodCidrs: undefined,
      remoteApiUrl: undefined,
      remoteCaUrl: undefined,
      remoteSaTokenPath: undefined,
      remoteSaToken: undefined,
      targetClusterName: 'c2',
      podResyncPeriodMs: 3_600_000,
      fullStoreResyncPeriodMs: 3_600_000,
      labelDomain: 'auto',
      managedBy: 'auto',
      hostNetworkPods: 'exclude',
      networkPolicies: false,
      overwrite: false,
      networkPolicySink: 'networkpolicy',
      clusterSetKey: 'cluster.clusterset.k8s.io',
      remotePodSelector: undefined,
      maxAddressesPerPolicy: 500,
      maxAddressesPerSource: 5_000,
      maxNetsPerSet: 1_000,
      clusterSetLabel: false,
      output: 'text',
      timeoutMs: 45_000,
      cleanupCluster: undefined,
      yes: false,
      calicoApi: 'auto',
      encoding: 'auto',
      leaderElect: false,
      leaseName: undefined,
      leaseNamespace: undefined,
      previousLeaseNamespace: undefined,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      deletionGuardPercent: 50,
      deletionGuardMin: 10,
      deletionGuardHoldMs: 300_000,
      listenAddress: { host: '', port: 8_080 },
      logLevel: 'info',
      logFormat: 'auto',
      minWriteIntervalMs: 200,
      writeConcurrency: 16,
      watchIdleTimeoutMs: 90_000,
      maxRemoteObjects: 200_000,
      maxRemoteMib: undefined,
      maxRemoteWrites: 20,
      maxRemoteSets: 10_000,
    });
  });

  it.each([
    { name: 'a kubeconfig', argv: KUBECONFIG, env: {} },
    { name: 'a URL, a CA and a token file', argv: [...DIRECT, TOKEN], env: {} },
    { name: 'a URL, a CA and a token', argv: DIRECT, env: { SP_REMOTE_SERVICE_ACCOUNT_TOKEN: 't' } },
    { name: 'the variables of the first Go program', argv: DIRECT, env: { KPS_REMOTE_SERVICE_ACCOUNT_TOKEN: 't' } },
    { name: 'the longer name of the token file', argv: DIRECT, env: { SP_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH: 't' } },
    { name: 'its first name', argv: DIRECT, env: { KPS_REMOTE_SERVICE_ACCOUNT_TOKEN_PATH: 't' } },
    { name: 'a config file alone', argv: ['-config=c.yaml', '-host-network-pods=include'], env: {} },
    { name: 'an empty flag for the other way', argv: [...KUBECONFIG, '-remote-api-url='], env: {} },
  ])('take $name', async ({ argv, env }) => {
    expect(await problems(argv, env)).toEqual([]);
  });

  it.each([
    {
      name: 'no way to the remote, and no name',
      argv: [],
      env: {},
      want: [/^-target-cluster-name or SP_TARGET_CLUSTER_NAME is/, /^-target-kube-config or SP_TARGET_KUBE_CONFIG is/],
    },
    {
      name: 'a config file together with what it says for each remote',
      argv: [...KUBECONFIG, '-config=c.yaml', '-allowed-pod-cidrs=10.0.0.0/8'],
      env: {},
      want: [
        /^-target-cluster-name .* and -config or SP_CONFIG exclude each other$/,
        /^-target-kube-config .* exclude each other$/,
        /^-allowed-pod-cidrs .* exclude each other$/,
      ],
    },
    {
      name: 'half of a way to the remote',
      argv: ['-target-cluster-name=c2', '-remote-api-url=https://c2'],
      env: {},
      want: [/^-remote-ca-url or SP_REMOTE_CA_URL is required/, /^-remote-sa-token-path .* is required/],
    },
    {
      name: 'the selector of v0.1.0',
      argv: [...KUBECONFIG, '-label-selector=a=b'],
      env: {},
      want: [
        /^-label-selector is not supported any more: kube-policy-semaphore v0\.1\.0 .* uw\.systems\/networkset-name; give Pods the label/,
      ],
    },
    {
      name: 'an API server without TLS',
      argv: [...DIRECT, TOKEN, '-remote-api-url=http://c2'],
      env: {},
      want: [
        /^-remote-api-url .*: "http:\/\/c2" would send credentials without TLS: use https:\/\/, or http:\/\/ to this machine /,
      ],
    },
  ])('refuse $name', async ({ argv, env, want }) => {
    expect(await problems(argv, env)).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });

  it.each([
    { name: 'one way', argv: KUBECONFIG, env: {}, want: [] },
    {
      name: 'a kubeconfig and a URL',
      argv: [...KUBECONFIG, '-remote-api-url=https://c2', TOKEN],
      env: {},
      want: [
        /^-remote-api-url .* is ignored: -target-kube-config or .* overrides it$/,
        /^-remote-sa-token-path .* is ignored/,
      ],
    },
    {
      name: 'a token and its file',
      argv: [...DIRECT, TOKEN],
      env: { SP_REMOTE_SERVICE_ACCOUNT_TOKEN: 's3cret' },
      want: [/^SP_REMOTE_SERVICE_ACCOUNT_TOKEN is ignored: -remote-sa-token-path or .* overrides it$/],
    },
  ])('prefer what the Go program prefers of $name, and say what is ignored', async ({ argv, env, want }) => {
    const resolution = await resolve(argv, env);
    expect(resolution.kind === 'run' && overridden(resolution.given)).toEqual(
      want.map((pattern) => expect.stringMatching(pattern)),
    );
  });

  it('demand the CIDRs of the remote with -network-policies', async () => {
    const argv = [...KUBECONFIG, '-network-policies'];
    expect(await problems(argv)).toEqual([
      '-allowed-pod-cidrs or SP_ALLOWED_POD_CIDRS is required with -network-policies or SP_NETWORK_POLICIES',
    ]);
    expect(await problems([...argv, '-allowed-pod-cidrs=10.4.0.0/16'])).toEqual([]);
    expect(await problems(['-config=f', '-network-policies'])).toEqual([]);
    expect(await problems(KUBECONFIG)).toEqual([]);
  });

  it('demand an API of Calico for its policies', async () => {
    const argv = [...KUBECONFIG, '-network-policy-sink=calico'];
    expect(await problems(argv)).toEqual([
      '-calico-api or SP_CALICO_API must name an API with -network-policy-sink or SP_NETWORK_POLICY_SINK = calico',
    ]);
    expect(await problems([...argv, '-calico-api=projectcalico.org/v3'])).toEqual([]);
  });

  it('distinguish a given default from the default', async () => {
    const unset = await resolve(KUBECONFIG);
    const set = await resolve([...KUBECONFIG, '-host-network-pods=exclude']);
    expect(unset.kind === 'run' && unset.given.has('hostNetworkPods')).toBe(false);
    expect(set.kind === 'run' && set.given.has('hostNetworkPods')).toBe(true);
  });

  it('never show the token in help', async () => {
    const resolution = await resolve(['-help'], { SP_REMOTE_SERVICE_ACCOUNT_TOKEN: 's3cret' });
    expect(resolution.kind === 'exit' && resolution.stdout).not.toContain('s3cret');
  });
});
