import { describe, expect, it } from 'vitest';
import { parseOptions, usage, UsageError } from './options.ts';

describe('parseOptions', () => {
  it('has a default for everything', () => {
    expect(parseOptions(['policy'])).toEqual({
      pods: 10_000,
      sets: 500,
      remotes: 1,
      embedded: false,
      encoding: 'auto',
      peers: [],
      changes: 300,
      rolloutPods: 1000,
      settleSeconds: 10,
      idleSeconds: 0,
      json: undefined,
      markdown: undefined,
    });
  });

  it('takes any number of peers', () => {
    const options = parseOptions(['policy', '--peer', 'a {local}', '--peer', 'b {local}', '--pods', '50000']);
    expect(options).toMatchObject({ pods: 50_000, peers: ['a {local}', 'b {local}'] });
  });

  it('asks for help', () => {
    expect(parseOptions(['--help'])).toBe('help');
  });

  it.each([
    { args: [], message: 'say what to measure' },
    { args: ['policies'], message: 'say what to measure' },
    { args: ['policy', '--pods', 'many'], message: '--pods is a whole number' },
    { args: ['policy', '--sets', '0'], message: '--sets is a whole number from 1 up' },
    { args: ['policy', '--pods', '500'], message: '--changes is half of --pods at most' },
    { args: ['policy', '--remotes', '6'], message: '--remotes is 5 at most' },
    { args: ['policy', '--remotes', '2', '--peer', 'x'], message: '--peer is for one remote' },
    { args: ['policy', '--encoding', 'xml'], message: '--encoding is auto or json' },
    { args: ['policy', '--podz', '1'], message: "Unknown option '--podz'" },
  ])('refuses $args', ({ args, message }) => {
    expect(() => parseOptions(args)).toThrow(UsageError);
    expect(() => parseOptions(args)).toThrow(message);
  });
});

it('names every flag in its usage, with the default', () => {
  for (const text of ['--pods N', '(10000)', '--sets N', '(500)', '--changes N', '(300)', '--rollout N', '(1000)', '(10)']) {
    expect(usage).toContain(text);
  }
});
