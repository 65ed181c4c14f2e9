import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { epochOf, withoutCredentials } from './checkout.ts';

describe('epochOf', () => {
  it('is SOURCE_DATE_EPOCH', async () => {
    expect(await epochOf('/', { SOURCE_DATE_EPOCH: '1700000000' })).toBe(1_700_000_000);
  });

  it('is undefined without that and without a commit', async () => {
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
