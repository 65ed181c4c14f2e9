import { expect, it } from 'vitest';
import { ConfigError } from './config-error.ts';

const problems = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `problem ${i}`);

it('has all of a hundred problems', () => {
  expect(new ConfigError(problems(100)).problems).toEqual(problems(100));
});

it('has the first hundred problems, and the number of the others', () => {
  const error = new ConfigError(problems(1_000));
  expect(error.problems).toEqual([...problems(100), 'and 900 more problems']);
  expect(error.message).toMatch(/^problem 0; .*; and 900 more problems$/);
});
