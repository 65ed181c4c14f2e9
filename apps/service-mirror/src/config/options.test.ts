import { resolveOptions } from '@kube-semaphore/options';
import { describe, expect, it } from 'vitest';
import { options, overridden, program, superseded, validate } from './options.ts';

const MIRRORS = ['-mirror-ns=sys-mirror', '-label-selector=mirror=true', '-svc-prefix=c2'];
const SINGLE = [...MIRRORS, '-target-kube-config=f'];

const resolve = (argv: string[], env: Record<string, string> = {}) =>
  resolveOptions(options, { program: { ...program, version: '1.2.3' }, argv, env, validate, superseded });

/** The problems of a command line, without the line that points to -help. */
async function problems(argv: string[], env: Record<string, string> = {}): Promise<string[]> {
  const resolution = await resolve(argv, env);
  const text = resolution.kind === 'exit' ? (resolution.stderr ?? '') : '';
  return text
    .split('\n')
    .slice(0, -2)
    .map((line) => line.replace('semaphore-service-mirror: ', ''));
}

describe('the options of service-mirror', () => {
  it('have the documented defaults', async () => {
    const resolution = await resolve(SINGLE);
    expect(resolution.kind === 'run' && resolution.config).toEqual({
      kubeConfig: undefined,
      mirrorNs: 'sys-mirror',
      config: undefined,
      mirrorSvcLabelSelector: undefined,
      globalSvcLabelSelector: undefined,
      globalSvcRoutingStrategyLabel: undefined,
      labelSelector: 'mirror=true',
      svcPrefix: 'c2',
      targetKubeConfig: 'f',
      remoteApiUrl: undefined,
      remoteCaUrl: undefined,
      remoteSaTokenPath: undefined,
      remoteSaToken: undefined,
      allowedPodCidrs: undefined,
      svcSync: true,
      encoding: 'auto',
      resyncPeriodMs: 3_600_000,
      output: 'text',
      timeoutMs: 45_000,
      cleanupCluster: undefined,
      cleanupMcs: false,
      yes: false,
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
      maxRemoteServices: 5_000,
    });
  });

  it.each([
    { name: 'the command line of the Go program’s manifests', argv: ['-log-level=info', ...SINGLE], env: {} },
    {
      name: 'its variables',
      argv: [],
      env: {
        SSM_KUBE_CONFIG: 'k',
        SSM_LABEL_SELECTOR: 'mirror=true',
        SSM_LOG_LEVEL: 'debug',
        SSM_MIRROR_NS: 'sys-mirror',
        SSM_REMOTE_API_URL: 'https://c2:6443',
        SSM_REMOTE_CA_URL: 'https://ca.c2',
        SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: 't',
        SSM_RESYNC_PERIOD: '30m',
        SSM_SVC_PREFIX: 'c2',
        SSM_SVC_SYNC: 'false',
      },
    },
    {
      name: 'the variables of its first release',
      argv: [],
      env: {
        KSM_KUBE_CONFIG: 'k',
        KSM_LABEL_SELECTOR: 'm=1',
        KSM_LOG_LEVEL: 'info',
        KSM_MIRROR_NS: 'ns',
        KSM_REMOTE_API_URL: 'https://c2',
        KSM_REMOTE_CA_URL: 'https://ca',
        KSM_REMOTE_SERVICE_ACCOUNT_TOKEN: 't',
        KSM_RESYNC_PERIOD: '1h',
        KSM_SVC_PREFIX: 'c2',
        KSM_SVC_SYNC: 'true',
      },
    },
    { name: 'the kubeconfig of its first release', argv: MIRRORS, env: { KSM_TARGET_KUBE_CONFIG: 'f' } },
    { name: 'a config file alone', argv: [], env: { SSM_CONFIG: '/etc/semaphore-service-mirror/config.json' } },
    {
      name: 'a config file with what overrides it',
      argv: [
        '-config=c',
        '-mirror-ns=a',
        '-kube-config=k',
        '-global-svc-label-selector=g=1',
        '-mirror-svc-label-selector=m=1',
      ],
      env: { SSM_GLOBAL_SVC_ROUTING_STRATEGY_LABEL: 'r=1' },
    },
    {
      name: 'a config file with the selector of earlier programs',
      argv: ['-config=c', '-label-selector=m=1'],
      env: {},
    },
    { name: 'a plan', argv: ['plan', '-o=json', '-config=c'], env: {} },
  ])('take $name', async ({ argv, env }) => {
    expect(await problems(argv, env)).toEqual([]);
  });

  it.each([
    {
      name: 'an empty command line',
      argv: [],
      want: [
        /^-mirror-ns or SSM_MIRROR_NS is required$/,
        /^-label-selector or .* is required$/,
        /^-svc-prefix or .* is required$/,
        /^-target-kube-config or /,
      ],
    },
    {
      name: 'a config file together with what it says for each remote',
      argv: [...SINGLE, '-config=c', '-svc-sync=false', '-resync-period=1m', '-allowed-pod-cidrs=10.0.0.0/8'],
      want: [
        /^-svc-prefix or SSM_SVC_PREFIX and -config or SSM_CONFIG exclude each other$/,
        /^-svc-sync .* exclude each other$/,
        /^-resync-period .* exclude each other$/,
        /^-target-kube-config .* exclude each other$/,
        /^-allowed-pod-cidrs .* exclude each other$/,
      ],
    },
    {
      name: 'global services without a config file',
      argv: [...SINGLE, '-global-svc-label-selector=g=1'],
      want: [/^-global-svc-label-selector or SSM_GLOBAL_SVC_LABEL_SELECTOR is for -config or SSM_CONFIG only$/],
    },
    {
      name: 'half of a way to the remote',
      argv: [...MIRRORS, '-remote-api-url=https://c2'],
      want: [/^-remote-ca-url or SSM_REMOTE_CA_URL is required/, /^-remote-sa-token-path .* is required/],
    },
    {
      name: 'the prefix of global services',
      argv: [...SINGLE, '-svc-prefix=gl'],
      want: [/^-svc-prefix \(SSM_SVC_PREFIX\): "gl" is reserved for global services$/],
    },
    {
      name: 'a lease that ends before its deadline',
      argv: [...SINGLE, '-lease-duration=5s'],
      want: [/^-renew-deadline .* 10s is not less than 5s/],
    },
  ])('refuse $name', async ({ argv, want }) => {
    expect(await problems(argv)).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });

  it('read the routing label from its older variable, and say so', async () => {
    const resolution = await resolve(['-config=c'], { SSM_GLOBAL_SVC_TOPOLOGY_LABEL: 'r=1' });
    expect(resolution).toMatchObject({
      config: { globalSvcRoutingStrategyLabel: 'r=1' },
      warnings: [
        expect.stringMatching(
          /^SSM_GLOBAL_SVC_TOPOLOGY_LABEL is an older spelling: use SSM_GLOBAL_SVC_ROUTING_STRATEGY_LABEL$/,
        ),
      ],
    });
  });

  it('ignore the variables of the one remote beside a config file, as Go does', async () => {
    const env = {
      SSM_CONFIG: 'c',
      SSM_SVC_PREFIX: 'gl',
      SSM_RESYNC_PERIOD: 'soon',
      SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: 't t',
      SSM_TARGET_KUBE_CONFIG: 'f',
    };
    const resolution = await resolve([], env);
    expect(resolution).toMatchObject({
      kind: 'run',
      config: { svcPrefix: undefined, targetKubeConfig: undefined, resyncPeriodMs: 3_600_000 },
    });
    const warnings = ['SVC_PREFIX', 'TARGET_KUBE_CONFIG', 'REMOTE_SERVICE_ACCOUNT_TOKEN', 'RESYNC_PERIOD'].map(
      (name) => `SSM_${name} is ignored: -config or SSM_CONFIG overrides it`,
    );
    expect(resolution.kind === 'run' && resolution.warnings.toSorted()).toEqual(warnings.toSorted());
  });

  it('refuse a limit of addresses beside a config file, as a flag or a variable: ignoring it would lift it', async () => {
    expect(await problems(['-config=c'], { SSM_ALLOWED_POD_CIDRS: '10.0.0.0/8' })).toEqual([
      expect.stringMatching(/^-allowed-pod-cidrs .* exclude each other$/),
    ]);
  });

  it('say what is ignored', async () => {
    const resolution = await resolve([...SINGLE, '-remote-sa-token-path=t']);
    expect(resolution.kind === 'run' && overridden(resolution.given)).toEqual([
      expect.stringMatching(/^-remote-sa-token-path .* is ignored: -target-kube-config or .* overrides it$/),
    ]);
  });
});
