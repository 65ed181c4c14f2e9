import { expect, it } from 'vitest';
import { notReached, withoutChange } from './plan-lines.ts';

it('says that there is nothing to change only if all remotes were reached', () => {
  expect(withoutChange([])).toBe('Nothing to change.');
  expect(withoutChange(['c2', 'c3'])).toBe('Changes are unknown: c2, c3 not reached.');
});

it('says why a remote was not reached, in printable text', () => {
  expect(notReached('c2', 'list pods: \u001b[2J')).toBe('c2: not reached: list pods: \\u001b[2J');
  expect(notReached('c2', undefined)).toBe('c2: not reached: no answer');
});
