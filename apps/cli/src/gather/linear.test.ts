import { superlinearAt } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { LOG_BYTES } from './read.ts';
import { redact } from './redact.ts';

/** Beginnings of each form, whose ends never come, and what is between them. */
it.each([
  'A',
  '\\',
  '"',
  'token-',
  'password: "',
  'password=\\',
  'pwd=[',
  'token \t',
  'bearer  ',
  'cookie: a="',
  '://',
  'a:b@',
  'eyJ',
  'eyJAAAAAAAA.',
  '-----BEGIN PRIVATE KEY-----',
  `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(64)}\n`,
  '-----BEGIN A ',
  'AKIA',
  'AKIAIOSFODNN7EXAMPLE    ',
  'hooks.slack.com/',
  'ghp_',
  'sig=',
  'abcdef.',
  'a'.repeat(43),
])('a log of %j is redacted in linear time, up to 1 MB', (unit) => {
  const input = (bytes: number): string => unit.repeat(bytes / unit.length);
  expect(superlinearAt({ input, work: redact, most: 2 * LOG_BYTES })).toBeUndefined();
});
