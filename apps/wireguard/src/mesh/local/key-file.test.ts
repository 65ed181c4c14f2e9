import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generatePrivateKey, publicKeyOf } from '@kube-semaphore/wireguard-tools';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readKeyFile, replaceKeyFile, writeKeyFile } from './key-file.ts';

const key = generatePrivateKey();
const NAME = 'wireguard.c2.key';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'key-file-'));
});
afterEach(() => rm(dir, { recursive: true }));

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe('a key file', () => {
  it('is created for its owner only, in a folder for its owner only, and contains the key', async () => {
    const path = join(dir, 'keys', NAME);
    expect(await readKeyFile(path)).toBeUndefined();
    await writeKeyFile(path, key);
    expect(await readKeyFile(path)).toMatchObject({ publicKey: publicKeyOf(key) });
    expect([await modeOf(join(dir, 'keys')), await modeOf(path)]).toEqual(['700', '600']);
    expect(await readdir(join(dir, 'keys'))).toEqual([NAME]);
  });

  it('is created although a crash left a draft', async () => {
    const path = join(dir, NAME);
    await writeFile(`${path}.new`, 'half');
    await writeKeyFile(path, key);
    expect(await readKeyFile(path)).toMatchObject({ publicKey: publicKeyOf(key) });
  });

  it('is never overwritten', async () => {
    const path = join(dir, NAME);
    await writeFile(path, 'something', { mode: 0o600 });
    await expect(writeKeyFile(path, key)).rejects.toMatchObject({
      code: 'KEY_FILE',
      message: `${path} can't be written: EEXIST`,
    });
    expect(await readFile(path, 'utf8')).toBe('something');
  });

  it('is read as the Go program wrote it: without a line break, in a folder that others may list', async () => {
    const path = join(dir, NAME);
    await chmod(dir, 0o755);
    await writeFile(path, key.reveal(), { mode: 0o600 });
    expect(await readKeyFile(path)).toMatchObject({ publicKey: publicKeyOf(key) });
  });
});

describe('a key file that replaces another one', () => {
  const next = generatePrivateKey();

  it('keeps its mode and its time, and leaves nothing behind', async () => {
    const [path, by] = [join(dir, NAME), join(dir, `${NAME}.next`)];
    await writeKeyFile(path, key);
    await writeKeyFile(by, next);
    await utimes(by, 1_000, 1_000);
    await replaceKeyFile(path, { by });
    expect(await readKeyFile(path)).toEqual({ publicKey: publicKeyOf(next), writtenMs: 1_000_000 });
    expect([await modeOf(path), await readdir(dir)]).toEqual(['600', [NAME]]);
  });

  it.each([
    { name: 'that is missing', mode: undefined, reason: 'is missing' },
    { name: 'that others can read', mode: 0o644, reason: 'has mode 0644' },
  ])('$name leaves it as it is', async ({ mode, reason }) => {
    const [path, by] = [join(dir, NAME), join(dir, `${NAME}.next`)];
    await writeKeyFile(path, key);
    if (mode !== undefined) await writeFile(by, next.reveal(), { mode });
    const message = expect.stringContaining(`${by} ${reason}`) as string;
    await expect(replaceKeyFile(path, { by })).rejects.toMatchObject({ code: 'KEY_FILE', message });
    expect(await readKeyFile(path)).toMatchObject({ publicKey: publicKeyOf(key) });
  });
});

describe('a key file is refused', () => {
  const good = async (path: string) => writeFile(path, key.reveal(), { mode: 0o600 });

  it.each([
    {
      name: 'without a key',
      make: (path: string) => writeFile(path, 'no key', { mode: 0o600 }),
      reason: 'has no valid private key',
    },
    {
      name: 'that is empty',
      make: (path: string) => writeFile(path, '', { mode: 0o600 }),
      reason: 'has no valid private key',
    },
    {
      name: 'that others can read',
      make: async (path: string) => (await good(path), chmod(path, 0o640)),
      reason: 'has mode 0640',
    },
    { name: 'that is a folder', make: (path: string) => mkdir(path), reason: 'is not a file' },
    {
      name: 'that is a link',
      make: async (path: string) => (await good(`${path}.real`), symlink(`${path}.real`, path)),
      reason: 'is a symbolic link',
    },
  ])('$name', async ({ make, reason }) => {
    const path = join(dir, NAME);
    await make(path);
    const error: unknown = await readKeyFile(path).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'KEY_FILE', message: expect.stringContaining(`${path} ${reason}`) as string });
    expect(String(error)).not.toContain(key.reveal());
  });

  it.each([
    { name: 'group', mode: 0o770 },
    { name: 'world', mode: 0o777 },
  ])('in a folder that its $name can write to, for reading and writing', async ({ mode }) => {
    const path = join(dir, NAME);
    await good(path);
    await chmod(dir, mode);
    const refusal = {
      code: 'KEY_FILE',
      message: expect.stringContaining(`${dir} has mode 0${mode.toString(8)}`) as string,
    };
    await expect(readKeyFile(path)).rejects.toMatchObject(refusal);
    await expect(writeKeyFile(join(dir, 'other.key'), key)).rejects.toMatchObject(refusal);
  });
});
