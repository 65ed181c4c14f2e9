import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatePrivateKey } from '@kube-semaphore/wireguard-tools';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeKeyFile } from '../../mesh/local/key-file.ts';
import { commitNextKey, makeNextKey, readKeys, readRequest, requestRotation } from './keys.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterEach(() => rm(folder, { recursive: true }));

const first = () => writeKeyFile(join(folder, 'wireguard.c2.key'), generatePrivateKey());
const place = () => ({ folder, remote: 'c2' });

describe('the keys of a remote', () => {
  it('are unknown before the first one', async () => {
    expect(await readKeys(place())).toBeUndefined();
  });

  it('are two during a rotation, the next one in a file for its owner only', async () => {
    await first();
    await makeNextKey(place());
    const { current, next } = (await readKeys(place()))!;
    expect(next?.publicKey).toMatch(/=$/);
    expect(next?.publicKey).not.toBe(current.publicKey);
    expect((await stat(join(folder, 'wireguard.c2.key.next'))).mode & 0o777).toBe(0o600);
  });

  it('are one after it: the next one', async () => {
    await first();
    await makeNextKey(place());
    const { next } = (await readKeys(place()))!;
    await commitNextKey(place());
    expect(await readKeys(place())).toEqual({ current: next, next: undefined });
    expect(await readdir(folder)).toEqual(['wireguard.c2.key']);
  });

  it('stay if a rotation begins twice, as the next key may be announced', async () => {
    await first();
    await makeNextKey(place());
    const keys = await readKeys(place());
    await expect(makeNextKey(place())).rejects.toMatchObject({ code: 'KEY_FILE' });
    expect(await readKeys(place())).toEqual(keys);
  });

  it('stay if there is nothing to commit', async () => {
    await first();
    const keys = await readKeys(place());
    await expect(commitNextKey(place())).rejects.toMatchObject({ code: 'KEY_FILE' });
    expect(await readKeys(place())).toEqual(keys);
  });
});

describe('the request of a user', () => {
  it('is not there before a user asks', async () => {
    expect(await readRequest(place())).toBeUndefined();
  });

  it('says when, and whether to wait for all', async () => {
    await requestRotation(place(), { waitsForAll: true, atMs: 5_000 });
    expect(await readRequest(place())).toEqual({ atMs: 5_000, waitsForAll: true });
    await requestRotation(place());
    expect(await readRequest(place())).toMatchObject({ waitsForAll: false });
  });

  it('is not taken for missing if it can’t be read', async () => {
    await mkdir(join(folder, 'wireguard.c2.key.rotate'));
    await expect(readRequest(place())).rejects.toMatchObject({ code: 'EISDIR' });
  });
});
