import { describe, expect, it } from 'vitest';
import { overriddenRemote, remoteClusterKeys, remoteClusterOptions, remoteClusterProblems } from './remote-cluster.ts';
import { resolveOptions } from './resolve.ts';

const program = { name: 'semaphore-test', version: '1.2.3', description: 'Tests.' };
const table = remoteClusterOptions({ prefix: 'SSM' });
const [URL, CA, PATH] = ['-remote-api-url=https://c2:6443', '-remote-ca-url=file:///ca.crt', '-remote-sa-token-path=t'];
const HASH = `-remote-ca-cert-hash=sha256:${'a'.repeat(64)}`;
const TOKEN = { SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: 's3cret' };

const resolve = (argv: string[], env: Record<string, string> = {}) =>
  resolveOptions(table, { program, argv, env, validate: (given) => remoteClusterProblems(table, given) });

/** The problems of a command line, without the line that points to -help. */
async function problems(argv: string[], env: Record<string, string> = {}): Promise<string[]> {
  const resolution = await resolve(argv, env);
  const text = resolution.kind === 'exit' ? (resolution.stderr ?? '') : '';
  return text
    .split('\n')
    .slice(0, -2)
    .map((line) => line.replace('semaphore-test: ', ''));
}

describe('remoteClusterOptions', () => {
  it('has a row for each key that a config file replaces', () => {
    expect(Object.keys(table).toSorted()).toEqual(remoteClusterKeys.toSorted());
  });

  it('reads the token from a variable only, and shows it nowhere', async () => {
    expect(await resolve([URL, CA], TOKEN)).toMatchObject({ config: { remoteSaToken: 's3cret' } });
    const refused = await resolve([URL, CA], { SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: 's3cret word' });
    expect(refused).toMatchObject({
      kind: 'exit',
      stderr: expect.stringMatching(/SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: the value is not valid\n/),
    });
  });
});

describe('remoteClusterProblems', () => {
  it.each([
    { name: 'a kubeconfig', argv: ['-target-kube-config=f'], env: {} },
    { name: 'a URL, a CA and a token file', argv: [URL, CA, PATH], env: {} },
    { name: 'a URL, a CA and a token', argv: [URL, CA], env: TOKEN },
    { name: "the CA's hash besides", argv: [URL, CA, HASH, PATH], env: {} },
  ])('accepts $name', async ({ argv, env }) => {
    expect(await problems(argv, env)).toEqual([]);
  });

  it.each([
    {
      name: 'no way at all',
      argv: [],
      want: [/^-target-kube-config or SSM_TARGET_KUBE_CONFIG is required, or -remote-api-url /],
    },
    {
      name: 'a URL alone',
      argv: [URL],
      want: [
        /^-remote-ca-url or SSM_REMOTE_CA_URL is required/,
        /^-remote-sa-token-path or .* SSM_REMOTE_SERVICE_ACCOUNT_TOKEN, is required/,
      ],
    },
    {
      name: 'a token file alone',
      argv: [PATH],
      want: [/^-remote-api-url .* is required/, /^-remote-ca-url .* is required/],
    },
  ])('refuses $name', async ({ argv, want }) => {
    expect(await problems(argv)).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });
});

describe('overriddenRemote', () => {
  it.each([
    { name: 'nothing of one way', given: ['remoteApiUrl', 'remoteCaUrl', 'remoteSaToken'] as const, want: [] },
    {
      name: 'everything else beside a kubeconfig',
      given: ['targetKubeConfig', 'remoteApiUrl', 'remoteSaTokenPath', 'remoteCaCertHash'] as const,
      want: [
        /^-remote-api-url .* counts for nothing beside -target-kube-config/,
        /^-remote-sa-token-path .* counts for nothing/,
        /^-remote-ca-cert-hash .* counts for nothing/,
      ],
    },
    {
      name: 'a token beside its file',
      given: ['remoteSaTokenPath', 'remoteSaToken'] as const,
      want: [/^SSM_REMOTE_SERVICE_ACCOUNT_TOKEN counts for nothing beside -remote-sa-token-path/],
    },
  ])('names $name', ({ given, want }) => {
    expect(overriddenRemote(table, new Set<string>(given))).toEqual(
      want.map((pattern) => expect.stringMatching(pattern)),
    );
  });
});
