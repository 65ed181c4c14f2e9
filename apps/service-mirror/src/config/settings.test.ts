import { resolveOptions } from '@kube-semaphore/options';
import { describe, expect, it } from 'vitest';
import { options, program, validate } from './options.ts';
import { settingsOfOptions } from './settings.ts';

const MIRRORS = ['-mirror-ns=sys', '-label-selector=mirror=true', '-svc-prefix=c2'];
const HASH = `sha256:${'a'.repeat(64)}`;
const DIRECT = ['-remote-api-url=https://c2', '-remote-ca-url=file:///ca'];

async function settings(argv: string[], env: Record<string, string> = {}) {
  const resolution = await resolveOptions(options, {
    program: { ...program, version: '1.2.3' },
    argv: [...MIRRORS, ...argv],
    env,
    validate,
  });
  return resolution.kind === 'run' ? settingsOfOptions(resolution.config) : resolution;
}

describe('settingsOfOptions', () => {
  it('has one remote, whose name is its prefix, and no global services', async () => {
    expect(
      await settings([
        '-kube-config=/local',
        '-target-kube-config=/c2',
        '-svc-sync=false',
        '-allowed-pod-cidrs=10.4.0.0/16',
        '-local-cidrs=10.2.0.0/16',
      ]),
    ).toEqual({
      local: {
        name: 'local',
        reference: { kind: 'kubeconfig', path: '/local' },
        zones: [],
        cidrs: [expect.objectContaining({ text: '10.2.0.0/16' })],
        properties: new Map(),
      },
      mirrorNamespace: 'sys',
      mirrorSelector: 'mirror=true',
      global: undefined,
      serviceSync: false,
      remotes: [
        {
          name: 'c2',
          prefix: 'c2',
          reference: { kind: 'kubeconfig', path: '/c2' },
          allowedPodCidrs: [expect.objectContaining({ text: '10.4.0.0/16' })],
          properties: new Map(),
          resyncPeriodMs: 3_600_000,
          staleAfterMs: 0,
          staleAction: 'unready',
          gateByTunnel: false,
        },
      ],
    });
  });

  it.each([
    {
      name: 'a kubeconfig before all else',
      argv: ['-target-kube-config=/c2', ...DIRECT],
      want: { kind: 'kubeconfig', path: '/c2' },
    },
    {
      name: 'the token’s file before the token',
      argv: [...DIRECT, '-remote-sa-token-path=/t'],
      want: { token: { path: '/t' } },
    },
    { name: 'the hash of the CA', argv: [...DIRECT, `-remote-ca-cert-hash=${HASH}`], want: { caHashes: [HASH] } },
    {
      name: 'the token',
      argv: DIRECT,
      want: { kind: 'api-server', apiUrl: 'https://c2', caUrl: 'file:///ca', token: { value: 's3cret' } },
    },
  ])('takes $name', async ({ argv, want }) => {
    expect(await settings(argv, { SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: 's3cret' })).toMatchObject({
      remotes: [{ reference: want }],
    });
  });
});
