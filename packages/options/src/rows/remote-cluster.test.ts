import { describe, expect, it } from 'vitest';
import {
  overriddenRemote,
  remoteClusterKeys,
  type RemoteClusterOptions,
  remoteClusterProblems,
  remoteClusterRows,
} from './remote-cluster.ts';
import { resolveOptions } from '../resolve.ts';
import { optionTable } from '../table.ts';
import { text } from '../types.ts';

const program = { name: 'semaphore-test', version: '1.2.3', description: 'Tests.' };

type Options = RemoteClusterOptions & Readonly<Record<'config' | 'name' | 'global', string | undefined>>;

const row = (flag: string) => ({ flag, group: 'All', type: text(flag), help: 'A sentence.' });
const own = { config: row('config'), name: row('name'), global: row('global') };
const table = optionTable<Options>({ prefix: 'SSM' }, { ...remoteClusterRows, ...own });
const rules = { inFile: ['name', ...remoteClusterKeys], required: ['name'], fileOnly: ['global'] } as const;

const [URL, CA, PATH] = ['-remote-api-url=https://c2:6443', '-remote-ca-url=file:///ca.crt', '-remote-sa-token-path=t'];
const KUBECONFIG = '-target-kube-config=f';
const HASH = `-remote-ca-cert-hash=sha256:${'a'.repeat(64)}`;
const TOKEN = { SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: 's3cret' };

const resolve = (argv: string[], env: Record<string, string> = {}) =>
  resolveOptions(table, { program, argv, env, validate: (given) => remoteClusterProblems(table, given, rules) });

/** The problems of a command line, without the line that points to -help. */
async function problems(argv: string[], env: Record<string, string> = {}): Promise<string[]> {
  const resolution = await resolve(argv, env);
  const text = resolution.kind === 'exit' ? (resolution.stderr ?? '') : '';
  return text
    .split('\n')
    .slice(0, -2)
    .map((line) => line.replace('semaphore-test: ', ''));
}

describe('remoteClusterRows', () => {
  it('are what a config file says for each remote, and what all remotes share', () => {
    const shared = ['localCidrs', 'maxRemoteWrites'];
    expect(Object.keys(remoteClusterRows).toSorted()).toEqual([...remoteClusterKeys, ...shared].toSorted());
  });

  it('reads the token from a variable only, and shows it nowhere', async () => {
    expect(await resolve(['-name=c2', URL, CA], TOKEN)).toMatchObject({ config: { remoteSaToken: 's3cret' } });
    const refused = await resolve(['-name=c2', URL, CA], { SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: 's3cret word' });
    expect(refused).toMatchObject({
      kind: 'exit',
      stderr: expect.stringMatching(/SSM_REMOTE_SERVICE_ACCOUNT_TOKEN: the value is not valid\n/),
    });
  });
});

describe('remoteClusterProblems', () => {
  it.each([
    { name: 'a kubeconfig', argv: [KUBECONFIG], env: {} },
    { name: 'a URL, a CA and a token file', argv: [URL, CA, PATH], env: {} },
    { name: 'a URL, a CA and a token', argv: [URL, CA], env: TOKEN },
    { name: "the CA's hash besides", argv: [URL, CA, HASH, PATH], env: {} },
  ])('accepts $name', async ({ argv, env }) => {
    expect(await problems(['-name=c2', ...argv], env)).toEqual([]);
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
    expect(await problems(['-name=c2', ...argv])).toEqual(want.map((pattern) => expect.stringMatching(pattern)));
  });

  it.each([
    { name: 'accepts a config file alone', argv: ['-config=f', '-global=g'], want: [] },
    {
      name: 'refuses what a config file says itself',
      argv: ['-config=f', '-name=c2', KUBECONFIG],
      want: [
        '-name or SSM_NAME and -config or SSM_CONFIG exclude each other',
        '-target-kube-config or SSM_TARGET_KUBE_CONFIG and -config or SSM_CONFIG exclude each other',
      ],
    },
    { name: 'requires what no config file says', argv: [KUBECONFIG], want: ['-name or SSM_NAME is required'] },
    {
      name: 'refuses what needs a config file',
      argv: ['-name=c2', KUBECONFIG, '-global=g'],
      want: ['-global or SSM_GLOBAL is for -config or SSM_CONFIG only'],
    },
  ])('$name', async ({ argv, want }) => {
    expect(await problems(argv)).toEqual(want);
  });
});

describe('overriddenRemote', () => {
  it.each([
    { name: 'nothing if there is one way', given: ['remoteApiUrl', 'remoteCaUrl', 'remoteSaToken'] as const, want: [] },
    {
      name: 'everything else beside a kubeconfig',
      given: ['targetKubeConfig', 'remoteApiUrl', 'remoteSaTokenPath', 'remoteCaCertHash'] as const,
      want: [
        /^-remote-api-url .* is ignored: -target-kube-config or .* overrides it$/,
        /^-remote-sa-token-path .* is ignored/,
        /^-remote-ca-cert-hash .* is ignored/,
      ],
    },
    {
      name: 'a token beside its file',
      given: ['remoteSaTokenPath', 'remoteSaToken'] as const,
      want: [/^SSM_REMOTE_SERVICE_ACCOUNT_TOKEN is ignored: -remote-sa-token-path or .* overrides it$/],
    },
  ])('names $name', ({ given, want }) => {
    expect(overriddenRemote(table, new Set<string>(given))).toEqual(
      want.map((pattern) => expect.stringMatching(pattern)),
    );
  });
});
