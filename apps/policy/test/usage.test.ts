import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { options } from '../src/config/options.ts';
import { argvOf } from './support/command-line.ts';
import { spawnPolicy } from './support/policy-process.ts';

/** Runs the program to its end. */
async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const policy = spawnPolicy(argv, env);
  const { code } = await policy.exited;
  return { code, stdout: policy.stdout(), stderr: policy.stderr() };
}

const kubeconfig = (cluster: object) =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1', ...cluster } }],
    users: [{ name: 'u', user: { token: 't' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'usage-'));
  await writeFile(join(dir, 'good'), kubeconfig({}));
  await writeFile(join(dir, 'insecure'), kubeconfig({ 'insecure-skip-tls-verify': true }));
  await writeFile(join(dir, 'text'), 'not a kubeconfig');
});
afterAll(() => rm(dir, { recursive: true }));

const named = { 'target-cluster-name': 'c2' };

/** The problems of an empty command line. */
const MISSING = ['-target-cluster-name or SP_TARGET_CLUSTER_NAME', '-target-kube-config or SP_TARGET_KUBE_CONFIG'];

describe('bad usage', () => {
  it.concurrent.for([
    { name: 'nothing at all', argv: [], problems: MISSING },
    {
      name: 'several invalid values',
      argv: ['-target-cluster-name=C2', '-pod-resync-period', 'soon', '--max-nets-per-set', '0', '-log-format=loud'],
      problems: [
        '-target-cluster-name (SP_TARGET_CLUSTER_NAME)',
        '-pod-resync-period (SP_POD_RESYNC_PERIOD)',
        '-max-nets-per-set (SP_MAX_NETS_PER_SET)',
        '-log-format (SP_LOG_FORMAT)',
        '-target-kube-config or',
      ],
    },
    {
      name: 'an unknown flag and a word',
      argv: ['-target-cluster-nam', 'c2', 'stray'],
      problems: ['-target-cluster-nam, did you mean -target-cluster-name', 'stray', ...MISSING],
    },
    {
      name: 'a flag without its value',
      argv: ['-target-kube-config=x', '-target-cluster-name'],
      problems: ['-target-cluster-name needs a value', '-target-cluster-name or'],
    },
    {
      name: 'a cluster name of 64 characters',
      argv: ['-target-kube-config=x', `-target-cluster-name=${'a'.repeat(64)}`],
      problems: ['64 characters'],
    },
    {
      name: 'half a way to the remote',
      argv: ['-target-cluster-name=c2', '-remote-api-url=https://c2.example'],
      problems: ['-remote-ca-url or SP_REMOTE_CA_URL', '-remote-sa-token-path or SP_REMOTE_SA_TOKEN_PATH'],
    },
    {
      name: 'variables',
      argv: [],
      env: { SP_MAX_NETS_PER_SET: 'x', SP_TARGET_CLUSTER_NAME: 'c_2' },
      problems: [
        'SP_TARGET_CLUSTER_NAME (-target-cluster-name)',
        'SP_MAX_NETS_PER_SET (-max-nets-per-set)',
        '-target-kube-config or',
      ],
    },
  ])('is reported with all problems at once: $name', async ({ argv, env, problems }) => {
    const { code, stdout, stderr } = await run(argv, env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    expect(lines.pop()).toBe('Run "semaphore-policy -help" for all flags.');
    expect(lines).toHaveLength(problems.length);
    for (const text of problems) expect(lines).toContainEqual(expect.stringContaining(text));
    for (const line of lines) expect(line).toMatch(/^semaphore-policy: /);
  });

  it.concurrent.for([
    {
      name: 'files that are not there',
      local: 'gone',
      remote: 'gone-too',
      problems: [
        '-local-kube-config or SP_LOCAL_KUBE_CONFIG: .*gone can',
        '-target-kube-config or SP_TARGET_KUBE_CONFIG: .*gone-too can',
      ],
    },
    {
      name: 'a file that is not a kubeconfig',
      local: 'text',
      remote: 'good',
      problems: ['-local-kube-config or SP_LOCAL_KUBE_CONFIG: .*text'],
    },
    {
      name: 'one that skips TLS verification',
      local: 'good',
      remote: 'insecure',
      problems: ['insecure-skip-tls-verify'],
    },
  ])('of kubeconfigs is reported without a stack: $name', async ({ local, remote, problems }) => {
    const { code, stderr } = await run(
      argvOf({ ...named, 'local-kube-config': join(dir, local), 'target-kube-config': join(dir, remote) }),
    );
    expect(code).toBe(2);
    const lines = stderr.trimEnd().split('\n');
    expect(lines).toHaveLength(problems.length);
    for (const text of problems)
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^semaphore-policy: .*${text}`)));
  });

  it.concurrent.for([
    {
      name: 'an invalid namespace',
      flags: { 'lease-namespace': 'A_B' },
      problems: /^semaphore-policy: "A_B" is .*-lease-namespace or SP_LEASE_NAMESPACE\n$/m,
    },
    {
      name: 'an invalid previous namespace',
      flags: { 'lease-namespace': 'ns', 'previous-lease-namespace': 'A_B' },
      problems: /^semaphore-policy: "A_B" is .*-previous-lease-namespace or SP_PREVIOUS_LEASE_NAMESPACE\n$/m,
    },
    {
      name: 'an invalid name',
      flags: { 'lease-namespace': 'ns', 'lease-name': 'a/b' },
      problems: /^semaphore-policy: "a\/b" is .*-lease-name or SP_LEASE_NAME\n$/m,
    },
    {
      name: 'no namespace outside of a pod',
      flags: {},
      problems: /^semaphore-policy: -lease-namespace or SP_LEASE_NAMESPACE is required/m,
    },
  ])('of the Lease is reported: $name', async ({ flags, problems }) => {
    const kubeconfigs = { 'local-kube-config': join(dir, 'good'), 'target-kube-config': join(dir, 'good') };
    const { code, stderr } = await run(argvOf({ ...named, ...kubeconfigs, 'leader-elect': 'true', ...flags }));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(problems) });
  });

  it.concurrent('is a missing local kubeconfig outside of a pod', async () => {
    const { code, stderr } = await run(argvOf({ ...named, 'target-kube-config': join(dir, 'good') }));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(
        /^semaphore-policy: -local-kube-config or SP_LOCAL_KUBE_CONFIG: .*outside of a Pod, name a kubeconfig\n$/,
      ),
    });
  });
});

describe('a problem with a cluster in a config file', () => {
  const good = { kubeConfigPath: 'good' };
  it.concurrent.for([
    {
      name: 'a kubeconfig that is not there',
      remote: { kubeConfigPath: 'gone' },
      problems: /remotes\[1\]\.kubeConfigPath \(c3\): gone can't be read: there is no such file \(ENOENT\)$/,
    },
    {
      name: 'an API server without TLS',
      remote: { remoteAPIURL: 'http://c3.example', remoteCAURL: 'file:///ca', remoteSATokenPath: 't' },
      problems: /remotes\[1\] \(c3\): the API URL must be an https: URL/,
    },
    {
      name: 'a local kubeconfig that is not there',
      local: { kubeConfigPath: 'gone' },
      remote: good,
      problems: /local\.kubeConfigPath: gone can't be read/,
    },
    {
      name: 'no local one outside of a pod',
      local: {},
      remote: good,
      problems: /local\.kubeConfigPath: .*outside of a Pod/,
    },
  ])('is reported with its field: $name', async ({ local = good, remote, problems }) => {
    const inFolder = (path: string): string =>
      JSON.stringify({
        local,
        remotes: [
          { name: 'c2', ...good },
          { name: 'c3', ...remote },
        ],
      }).replaceAll('"good"', JSON.stringify(path));
    const file = join(await mkdtemp(join(dir, 'file-')), 'config.json');
    await writeFile(file, inFolder(join(dir, 'good')));
    const { code, stderr } = await run(['-config', file]);
    const lines = stderr.trimEnd().split('\n');
    expect({ code, lines }).toEqual({ code: 2, lines: [expect.stringMatching(problems)] });
    expect(lines[0]).toMatch(new RegExp(`^semaphore-policy: ${file}: `));
  });
});

describe('a command of another program', () => {
  it.concurrent('is reported with the program that has it', async () => {
    const { code, stderr } = await run(['status']);
    expect({ code, first: stderr.split('\n')[0] }).toEqual({
      code: 2,
      first: 'semaphore-policy: unexpected word "status": it is a command of semaphore-wireguard',
    });
  });
});

describe('a flag for information', () => {
  it.concurrent.for(['-help', '-h'])('%s prints every flag, its variable and its default', async (flag) => {
    const { code, stdout, stderr } = await run([flag, '-max-nets-per-set=nonsense']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const text = stdout.replaceAll(/\s+/g, ' ');
    for (const { flag: name, env, type, fallback } of Object.values(options)) {
      expect(text).toContain(name === undefined ? env : `-${name} `);
      expect(text).toContain(fallback === undefined ? env : `default ${type.format(fallback as never)}; ${env})`);
    }
  });

  it.concurrent('--version prints name, version and commit', async () => {
    const answer = await run(['--version'], { SEMAPHORE_COMMIT: 'abc1234' });
    expect(answer).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^semaphore-policy \d+\.\d+\.\d+ \(commit abc1234\)\n$/),
      stderr: '',
    });
  });
});

describe('a port that is taken', () => {
  it('ends the process with 1, and a line that names the flag', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const kubeconfigs = { 'local-kube-config': join(dir, 'good'), 'target-kube-config': join(dir, 'good') };
    const { code, stderr } = await run(
      argvOf({ ...named, ...kubeconfigs, 'log-level': 'error', 'listen-address': `127.0.0.1:${port}` }),
    );
    other.close();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `semaphore-policy: -listen-address 127.0.0.1:${port} is in use by another process\n`,
    });
  });
});
