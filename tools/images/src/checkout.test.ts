import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { epochOf, withoutCredentials } from './checkout.ts';

describe('epochOf', () => {
  it('is what SOURCE_DATE_EPOCH says', async () => {
    expect(await epochOf('/', { SOURCE_DATE_EPOCH: '1700000000' })).toBe(1_700_000_000);
  });

  it('is nothing where neither that nor a commit is', async () => {
    expect(await epochOf(tmpdir(), {})).toBeUndefined();
  });

  it.each(['', 'yesterday', '1e9', '-1'])('refuses %j', async (epoch) => {
    await expect(epochOf('/', { SOURCE_DATE_EPOCH: epoch })).rejects.toThrow('SOURCE_DATE_EPOCH');
  });
});

it.each([
  ['https://somebody:secret@git.example/a/b.git', 'https://git.example/a/b.git'],
  ['https://token@git.example/a@b', 'https://git.example/a@b'],
  ['https://git.example/a@b', 'https://git.example/a@b'],
  ['git@git.example:a/b.git', 'git@git.example:a/b.git'],
])('of %s leaves %s', (url, want) => {
  expect(withoutCredentials(url)).toBe(want);
});
