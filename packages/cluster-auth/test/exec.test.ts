import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServer, localCertificate } from './api-server.ts';
import { connected, send, temporaryFolder, writeConfig } from './world.ts';

const authority = await createAuthority();
const clients = await createAuthority('client CA');
const caData = Buffer.from(authority.caPem).toString('base64');
const fixed = await clients.issue({ usage: 'client', commonName: 'static' });
const certificateData = {
  'client-certificate-data': Buffer.from(fixed.certPem).toString('base64'),
  'client-key-data': Buffer.from(fixed.keyPem).toString('base64'),
};
const V1 = 'client.authentication.k8s.io/v1';
const never = new AbortController().signal;

let api: ApiServer;
let dir: string;

beforeEach(async () => {
  api = await ApiServer.start(await localCertificate(authority));
  onTestFinished(() => api[Symbol.asyncDispose]());
  dir = await temporaryFolder();
});

/** Writes a plugin: a Node.js script that appends a line to `runs`, and then runs this code. */
async function writePlugin(body: string): Promise<void> {
  const counting = `require('fs').appendFileSync(${JSON.stringify(join(dir, 'runs'))}, '.');`;
  await writeFile(join(dir, 'plugin.cjs'), `#!${process.execPath}\n${counting}\n${body}`);
  await chmod(join(dir, 'plugin.cjs'), 0o755);
}

const runs = async () => (await readFile(join(dir, 'runs'), 'utf8')).length;

/** A plugin that prints the text of the file `status` as an ExecCredential's status. */
async function writeStatus(status: object): Promise<void> {
  await writeFile(join(dir, 'status'), JSON.stringify({ apiVersion: V1, kind: 'ExecCredential', status }));
  await writePlugin(`process.stdout.write(require('fs').readFileSync(${JSON.stringify(join(dir, 'status'))}));`);
}

async function connectedBy(exec: object = {}, cluster: object = {}, user: object = {}) {
  const fields = { server: api.url, 'certificate-authority-data': caData, ...cluster };
  const plugin = { apiVersion: V1, interactiveMode: 'Never', command: './plugin.cjs', ...exec };
  const path = await writeConfig(dir, fields, { exec: plugin, ...user });
  return connected({ kind: 'kubeconfig', path }, { env: { PATH: process.env['PATH'], INHERITED: 'yes' } });
}

describe('an exec plugin', () => {
  it('runs with the first request, once for several, and not again while its token is valid', async () => {
    await writeStatus({ token: 'from-plugin' });
    const { connection, clock } = await connectedBy();
    await expect(runs()).rejects.toThrow('ENOENT');
    await Promise.all([send(connection), send(connection)]);
    clock.advance(3_600_000);
    await send(connection);
    expect(api.seen.map(({ authorization }) => authorization)).toEqual(Array(3).fill('Bearer from-plugin'));
    expect(await runs()).toBe(1);
  });

  it('runs again when the token has expired', async () => {
    const { connection, clock } = await connectedBy();
    await writeStatus({ token: 'first', expirationTimestamp: new Date(clock.epochMs() + 60_000).toISOString() });
    await send(connection);
    await writeStatus({ token: 'second' });
    clock.advance(59_999);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer first');
    clock.advance(1);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer second');
  });

  it('runs again after a 401, at most once a second', async () => {
    await writeStatus({ token: 'first' });
    const { connection, clock } = await connectedBy();
    await send(connection);
    await writeStatus({ token: 'second' });
    api.refuses = ({ authorization }) => authorization === 'Bearer first';
    clock.advance(999);
    expect(await send(connection)).toBe(401);
    expect(await runs()).toBe(1);
    clock.advance(1);
    expect(await send(connection)).toBe(200);
    expect(await runs()).toBe(2);
  });

  it('runs at most once a second if it only prints expired tokens', async () => {
    const { connection, clock } = await connectedBy();
    await writeStatus({ token: 'old', expirationTimestamp: new Date(clock.epochMs() - 1).toISOString() });
    await send(connection);
    clock.advance(999);
    await send(connection);
    expect(await runs()).toBe(1);
    clock.advance(1);
    await send(connection);
    expect(await runs()).toBe(2);
  });

  it('may print a client certificate, which replaces the agent when it changes', async () => {
    const mutual = await ApiServer.start(await localCertificate(authority), clients.caPem);
    onTestFinished(() => mutual[Symbol.asyncDispose]());
    const { connection, clock } = await connectedBy({}, { server: mutual.url });
    const expirationTimestamp = new Date(clock.epochMs() + 60_000).toISOString();
    const statusOf = async (name: string) => {
      const { certPem, keyPem } = await clients.issue({ usage: 'client', commonName: name });
      return { clientCertificateData: certPem, clientKeyData: keyPem, expirationTimestamp };
    };
    await writeStatus(await statusOf('first'));
    await send(connection);
    expect(mutual.last?.client).toBe('first');
    await writeStatus(await statusOf('second'));
    clock.advance(60_000);
    await send(connection);
    expect(mutual.last?.client).toBe('second');
  });

  it('gets its arguments, our variables and its own, and no terminal', async () => {
    await writePlugin(`
      const { OWN, INHERITED, KUBERNETES_EXEC_INFO } = process.env;
      const { interactive } = JSON.parse(KUBERNETES_EXEC_INFO).spec;
      let input = '';
      process.stdin.on('data', (chunk) => (input += chunk)).on('end', () => {
        const token = [process.argv.slice(2).join('+'), OWN, INHERITED, input.length, interactive].join('_');
        console.log(JSON.stringify({ apiVersion: '${V1}', kind: 'ExecCredential', status: { token } }));
      });`);
    const { connection } = await connectedBy({ args: ['a', 'b'], env: [{ name: 'OWN', value: 'own' }] });
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer a+b_own_yes_0_false');
  });

  it('gets the cluster with provideClusterInfo', async () => {
    await writePlugin(`
      require('fs').writeFileSync(${JSON.stringify(join(dir, 'info'))}, process.env.KUBERNETES_EXEC_INFO);
      console.log(JSON.stringify({ apiVersion: '${V1}', kind: 'ExecCredential', status: { token: 't' } }));`);
    const extensions = [{ name: 'client.authentication.k8s.io/exec', extension: { audience: 'x' } }];
    const { connection } = await connectedBy({ provideClusterInfo: true }, { extensions });
    await send(connection);
    const info = JSON.parse(await readFile(join(dir, 'info'), 'utf8'));
    const ca = Buffer.from(info.spec.cluster['certificate-authority-data'], 'base64').toString();
    expect(ca.trim()).toBe(authority.caPem.trim());
    expect(info).toMatchObject({
      apiVersion: V1,
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: api.url, config: { audience: 'x' } } },
    });
  });

  it.each([
    { name: 'a token', user: { token: 'own' }, want: 'Bearer own' },
    { name: 'a client certificate', user: certificateData, want: undefined },
  ])('does not run for a user with $name', async ({ user, want }) => {
    await writePlugin('process.exit(1);');
    const { connection } = await connectedBy({}, {}, user);
    await send(connection);
    expect(api.last?.authorization).toBe(want);
  });

  it.each([
    {
      name: 'a missing command',
      exec: { command: 'no-such-plugin', installHint: 'brew install it' },
      want: 'is not installed: install no-such-plugin (brew install it)',
    },
    {
      name: 'an exit code, with its stderr',
      body: `console.error('\\x1b[31mlogin\\nexpired\\x1b[0m'); process.exit(3);`,
      want: 'ended with exit code 3: login expired',
    },
    {
      name: 'a signal',
      body: `process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);`,
      want: 'was ended by SIGTERM',
    },
    {
      name: 'an output that is not an ExecCredential',
      body: `console.log('secret');`,
      want: 'did not print an ExecCredential with a status',
    },
    {
      name: 'an output that is too large',
      body: `console.log('x'.repeat(2 ** 21));`,
      want: 'printed more than 1048576 bytes',
    },
  ])('is named in the error of $name', async ({ exec = {}, body = '', want }) => {
    await writePlugin(body);
    const { connection } = await connectedBy(exec);
    const failure: unknown = await connection.authorize({ signal: never }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'CLUSTER_PLUGIN' });
    expect(String(failure)).toMatch(/kubeconfig .*: user "jane": exec (no-such-plugin|\.\/plugin\.cjs) /);
    expect(String(failure)).toContain(want);
    expect(String(failure)).not.toContain('secret');
  });

  it('does not run while anyone may write it', async () => {
    await writeStatus({ token: 'from-plugin' });
    await chmod(join(dir, 'plugin.cjs'), 0o757);
    const { connection } = await connectedBy();
    const want = `anyone may write it (mode 0757), and so make us run any program: use chmod o-w ${join(dir, 'plugin.cjs')}`;
    await expect(connection.authorize({ signal: never })).rejects.toMatchObject({
      code: 'CLUSTER_PLUGIN',
      message: expect.stringContaining(want),
    });
    await expect(runs()).rejects.toThrow('ENOENT');
    await chmod(join(dir, 'plugin.cjs'), 0o755);
    expect(await send(connection)).toBe(200);
  });

  it('runs again for the next request after it failed', async () => {
    await writePlugin('process.exit(1);');
    const { connection } = await connectedBy();
    await expect(send(connection)).rejects.toThrow('exit code 1');
    await writeStatus({ token: 'now' });
    expect(await send(connection)).toBe(200);
  });

  it('is ended with the connection', async () => {
    const file = join(dir, 'pid');
    await writePlugin(`
      require('fs').writeFileSync(${JSON.stringify(file)}, String(process.pid));
      setInterval(() => {}, 1000);`);
    const { connection } = await connectedBy();
    const waiting = connection.authorize({ signal: never });
    const pid = await eventually(
      async () => Number(await readFile(file, 'utf8').catch(() => '')),
      (read) => read > 0,
    );
    connection.close();
    await expect(waiting).rejects.toMatchObject({ code: 'CLUSTER_CLOSED' });
    await eventually(() => isGone(pid), true);
  });
});

function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    // ESRCH: the process has ended.
    return true;
  }
}
