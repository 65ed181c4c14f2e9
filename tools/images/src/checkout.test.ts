import { expect, it } from 'vitest';
import { withoutCredentials } from './checkout.ts';

it.each([
  ['https://somebody:secret@git.example/a/b.git', 'https://git.example/a/b.git'],
  ['https://token@git.example/a@b', 'https://git.example/a@b'],
  ['https://git.example/a@b', 'https://git.example/a@b'],
  ['git@git.example:a/b.git', 'git@git.example:a/b.git'],
])('of %s leaves %s', (url, want) => {
  expect(withoutCredentials(url)).toBe(want);
});
