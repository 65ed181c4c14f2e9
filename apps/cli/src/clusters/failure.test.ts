import { expect, it } from 'vitest';
import { failureOf } from './failure.ts';

const context = { name: 'c1', server: 'https://c1', user: 'me' };

it.each([
  {
    name: 'a missing plugin',
    error: { status: undefined, message: 'no credentials: spawn aws ENOENT' },
    want: 'c1: the kubeconfig gives no credentials: spawn aws ENOENT: check the user "me" in it, and its plugin',
  },
  {
    name: 'a server that is not one',
    error: { status: 404, message: 'HTTP 404' },
    want: 'c1: https://c1 answers 404: check the server in the kubeconfig: HTTP 404',
  },
  {
    name: 'foreign words that steer a terminal',
    error: { status: 403, message: 'no \u001b[2J' },
    want: 'c1: the user "me" lacks a right: ask an administrator for it: no \\u001b[2J',
  },
  {
    name: 'whom the user acts as',
    actsAs: 'jane',
    error: { status: 403, message: 'User "jane" cannot list' },
    want: 'c1: the user "jane", as whom "me" acts, lacks a right: ask an administrator for it: User "jane" cannot list',
  },
])('one sentence says what is wrong and what to do: $name', ({ error, actsAs, want }) => {
  expect(failureOf({ ...context, actsAs }, error)).toBe(want);
});
