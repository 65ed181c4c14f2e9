import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuthority } from '@kube-semaphore/embedded-apiserver';
import { mountFiles } from '@kube-semaphore/testkit';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ClusterReference } from '../src/index.ts';
import { ApiServer, localCertificate } from './api-server.ts';
import { connected, open, send, temporaryFolder } from './world.ts';

const authority = await createAuthority();
const certificate = await localCertificate(authority);
let api: ApiServer;
let dir: string;

beforeEach(async () => {
  api = await ApiServer.start(certificate);
  onTestFinished(() => api[Symbol.asyncDispose]());
  dir = await temporaryFolder();
  await writeFile(join(dir, 'ca.pem'), authority.caPem);
});

const reference = (token = join(dir, 'token')): ClusterReference => ({
  kind: 'api-server',
  apiUrl: api.url,
  caUrl: `file://${dir}/ca.pem`,
  token: { path: token },
});

describe('a token file', () => {
  it('is sent without the line feed at its end', async () => {
    await writeFile(join(dir, 'token'), 'first\n');
    const { connection } = await connected(reference());
    expect(await send(connection)).toBe(200);
    expect(api.last?.authorization).toBe('Bearer first');
  });

  it('is read again within a second of a symlink swap', async () => {
    await mountFiles(dir, { token: 'first' });
    const { connection, clock } = await connected(reference());
    await send(connection);
    await mountFiles(dir, { token: 'other' });
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer first');
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer other');
  });

  it('is read again when it is written in place', async () => {
    await writeFile(join(dir, 'token'), 'first');
    const { connection, clock } = await connected(reference());
    await writeFile(join(dir, 'token'), 'second');
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer second');
  });

  it('is read again each minute, even if the file looks unchanged', async () => {
    // Its text differs each time; its size and its times don't.
    const { connection, clock } = await connected(reference('/proc/sys/kernel/random/uuid'));
    await send(connection);
    const first = api.last?.authorization;
    clock.advance(59_999);
    await send(connection);
    expect(api.last?.authorization).toBe(first);
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toMatch(/^Bearer .{36}$/);
    expect(api.last?.authorization).not.toBe(first);
  });

  it('keeps the connection, and a watch that is open, when the token changes', async () => {
    await writeFile(join(dir, 'token'), 'first');
    const { connection, clock } = await connected(reference());
    const { signal } = new AbortController();
    const before = await connection.authorize({ signal });
    const watch = await open(connection.server, before, '/watch');
    await writeFile(join(dir, 'token'), 'second');
    clock.advance(1_000);
    const after = await connection.authorize({ signal });
    expect(after).not.toBe(before);
    expect(after.agent).toBe(before.agent);
    await send(connection);
    expect(watch.destroyed).toBe(false);
  });

  it('tells when the token that was used last begins and ends, if it is a JWT with both', async () => {
    const jwt = (claims: object): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.sig`;
    await writeFile(join(dir, 'token'), `${jwt({ iat: 1_000, exp: 4_600 })}\n`);
    const { connection, clock } = await connected(reference());
    expect(connection.validity).toBeUndefined();
    await send(connection);
    expect(connection.validity).toEqual({ fromMs: 1_000_000, untilMs: 4_600_000 });
    for (const other of [jwt({ iat: 1_000 }), jwt({ iat: 1_000, exp: 1e300 }), 'opaque']) {
      await writeFile(join(dir, 'token'), other);
      clock.advance(1_000);
      await send(connection);
      expect(connection.validity).toBeUndefined();
    }
  });

  it('gives the same authorization while nothing changes', async () => {
    await writeFile(join(dir, 'token'), 'first');
    const { connection, clock } = await connected(reference());
    const { signal } = new AbortController();
    const before = await connection.authorize({ signal });
    clock.advance(120_000);
    expect(await connection.authorize({ signal })).toBe(before);
  });

  it('is read again after a 401, and a retry of the request could help', async () => {
    await writeFile(join(dir, 'token'), 'first');
    const { connection, clock } = await connected(reference());
    await send(connection);
    api.refuses = ({ authorization }) => authorization === 'Bearer first';
    clock.advance(500);
    await writeFile(join(dir, 'token'), 'second');
    clock.advance(499);
    expect(await send(connection), 'within a second of the last read').toBe(401);
    clock.advance(1);
    expect(await send(connection)).toBe(200);
    expect(api.last?.authorization).toBe('Bearer second');
  });

  it('needs no retry after a 401 if it is unchanged', async () => {
    await writeFile(join(dir, 'token'), 'first');
    const { connection, clock } = await connected(reference());
    api.refuses = () => true;
    clock.advance(5_000);
    expect(await send(connection)).toBe(401);
    expect(api.seen).toHaveLength(1);
  });

  it('makes every request that was refused with the old token worth a retry', async () => {
    await writeFile(join(dir, 'token'), 'first');
    const { connection, clock } = await connected(reference());
    const { signal } = new AbortController();
    const old = await connection.authorize({ signal });
    await writeFile(join(dir, 'token'), 'second');
    clock.advance(1_000);
    const answers = Array.from({ length: 3 }, () => connection.unauthorized(old, { signal }));
    expect(await Promise.all(answers)).toEqual([true, true, true]);
    expect(await connection.unauthorized(old, { signal }), 'one that comes late').toBe(true);
    expect(await connection.unauthorized(await connection.authorize({ signal }), { signal })).toBe(false);
  });

  it('stays in use while its file is missing, with one warning, and is replaced when the file returns', async () => {
    await writeFile(join(dir, 'token'), 'first');
    const { connection, clock, log } = await connected(reference());
    await rm(join(dir, 'token'));
    for (let second = 0; second < 3; second++) {
      clock.advance(1_000);
      expect(await send(connection)).toBe(200);
    }
    expect(log.lines.filter((line) => line.startsWith('warn:'))).toHaveLength(1);
    await writeFile(join(dir, 'token'), 'second');
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer second');
    expect(log.lines.join()).not.toMatch(/first|second/);
  });

  it('stays in use while its file is empty', async () => {
    await writeFile(join(dir, 'token'), 'first');
    const { connection, clock } = await connected(reference());
    await writeFile(join(dir, 'token'), '');
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer first');
  });
});

describe('a token by value', () => {
  it('is sent unchanged', async () => {
    const { connection } = await connected({ ...reference(), token: { value: 'given' } } as ClusterReference);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer given');
  });
});

describe('a service account', () => {
  it('uses the variables of its Pod, and follows its token', async () => {
    await mountFiles(dir, { token: 'first', 'ca.crt': authority.caPem });
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(api.port) };
    const { connection, clock } = await connected({ kind: 'in-cluster' }, { env, serviceAccountDir: dir });
    expect(connection.server.href).toBe(`${api.url}/`);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer first');
    await mountFiles(dir, { token: 'second', 'ca.crt': authority.caPem });
    clock.advance(1_000);
    await send(connection);
    expect(api.last?.authorization).toBe('Bearer second');
  });
});
