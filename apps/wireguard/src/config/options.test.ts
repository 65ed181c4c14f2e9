import { resolveOptions } from '@kube-semaphore/options';
import { describe, expect, it } from 'vitest';
import { options, program, validate } from './options.ts';

const REQUIRED = ['-clusters-config=f', '-node-name=n1'];

const resolve = (argv: string[], env: Record<string, string> = {}) =>
  resolveOptions(options, { program: { ...program, version: '1.2.3' }, argv, env, validate });

/** The problems of a command line, without the line that points to -help. */
async function problems(argv: string[], env: Record<string, string> = {}): Promise<string[]> {
  const resolution = await resolve(argv, env);
  const text = resolution.kind === 'exit' ? (resolution.stderr ?? '') : '';
  return text
    .split('\n')
    .slice(0, -2)
    .map((line) => line.replace('semaphore-wireguard: ', ''));
}

describe('the options of wireguard', () => {
  it('have the documented defaults', async () => {
    const resolution = await resolve(REQUIRED);
    expect(resolution.kind === 'run' && resolution.config).toEqual({
      clustersConfig: 'f',
      encoding: 'auto',
      nodeName: 'n1',
      wgKeyPath: '/var/lib/semaphore-wireguard',
      userspace: 'auto',
      observePeriodMs: 30_000,
      staleHandshakeMs: 180_000,
      peerMetrics: 'auto',
      output: 'text',
      timeoutMs: 45_000,
      cleanupCluster: undefined,
      waitForAll: false,
      yes: false,
      deletionGuardPercent: 50,
      deletionGuardMin: 10,
      deletionGuardHoldMs: 300_000,
      listenAddress: { host: '', port: 7_773 },
      logLevel: 'info',
      logFormat: 'auto',
      minWriteIntervalMs: 200,
      writeConcurrency: 16,
      watchIdleTimeoutMs: 90_000,
      maxRemoteObjects: 200_000,
      maxRemoteMib: undefined,
    });
  });

  it.each([
    {
      name: 'the variables of the Go program’s manifests',
      argv: [],
      env: { SWG_NODE_NAME: 'n1', SWG_CLUSTERS_CONFIG: '/etc/semaphore-wireguard/config.json' },
    },
    {
      name: 'its other variables',
      argv: REQUIRED,
      env: { SWG_LOG_LEVEL: 'debug', SWG_WG_KEY_PATH: '/k', SWG_LISTEN_ADDRESS: ':7777' },
    },
    {
      name: 'the variables of its release v0.2.0',
      argv: [],
      env: {
        WS_CLUSTERS_CONFIG: 'f',
        WS_NODE_NAME: 'n1',
        WS_LOG_LEVEL: 'info',
        WS_WG_KEY_PATH: '/k',
        WS_LISTEN_ADDRESS: ':7773',
      },
    },
    {
      name: 'the flags of its release v0.2.0',
      argv: ['-clusters-config=f', '-ws-node-name=n1', '-wg-key-path=/k'],
      env: {},
    },
    {
      name: 'its flags',
      argv: [...REQUIRED, '-log-level', 'info', '--wg-key-path=/k', '-listen-address', '127.0.0.1:7773'],
      env: {},
    },
    { name: 'a plan', argv: ['plan', '-o=json', ...REQUIRED], env: {} },
    { name: 'a status', argv: ['status', ...REQUIRED], env: {} },
    { name: 'a rotation of one key', argv: ['rotate', '-cluster=c2', ...REQUIRED], env: {} },
    { name: 'a cleanup of one remote', argv: ['cleanup', '-cluster=c2', '-yes', ...REQUIRED], env: {} },
  ])('take $name', async ({ argv, env }) => {
    expect(await problems(argv, env)).toEqual([]);
  });

  it.each([
    {
      name: 'a flag of v0.1.0',
      argv: [...REQUIRED, '-remote-pod-subnet', '10.4.0.0/16'],
      want: [
        /^-remote-pod-subnet is not supported any more: v0\.1\.0 had one remote by flags; write it into the file of -clusters-config$/,
      ],
    },
    {
      name: 'an empty command line',
      argv: [],
      want: [/^-clusters-config or SWG_CLUSTERS_CONFIG is required$/, /^-node-name or SWG_NODE_NAME is required$/],
    },
    {
      name: 'a cluster to clean up without cleanup',
      argv: [...REQUIRED, '-cluster=c2'],
      want: [/^-cluster or SWG_CLEANUP_CLUSTER is for cleanup and rotate only$/],
    },
    {
      name: 'to wait for all without a rotation',
      argv: ['plan', ...REQUIRED, '-wait-for-all'],
      want: [/^-wait-for-all or SWG_WAIT_FOR_ALL is for rotate only$/],
    },
    {
      name: 'a cluster that is not a label',
      argv: ['cleanup', '-cluster=C_2', ...REQUIRED],
      want: [/^-cluster .*"C_2" is not a valid cluster name/],
    },
    {
      name: 'an election, where every node has an agent',
      argv: [...REQUIRED, '-leader-elect'],
      want: [/leader-elect/],
    },
    {
      name: 'a period that is too short',
      argv: [...REQUIRED, '-observe-period=1ms'],
      want: [/^-observe-period .*is less than 1s/],
    },
  ])('refuse $name', async ({ argv, want }) => {
    expect(await problems(argv)).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });
});
