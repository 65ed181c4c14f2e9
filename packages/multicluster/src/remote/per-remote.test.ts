import { expect, it } from 'vitest';
import { PerRemote } from './per-remote.ts';
import type { Remote, RemoteConfig } from './remotes.ts';

type List = readonly Remote<RemoteConfig>[];

const remote = (name: string): Remote<RemoteConfig> =>
  ({ settings: { name, reference: { kind: 'in-cluster' } } }) as unknown as Remote<RemoteConfig>;

/** What is there of a list of remotes, and what was made and dropped, in order. */
function of(all: List) {
  const remotes = { all };
  const events: string[] = [];
  const each = new PerRemote({
    remotes,
    make: ({ settings: { name } }) => {
      events.push(`make ${name}`);
      return { name };
    },
    drop: (name) => events.push(`drop ${name}`),
    always: new Map([['c1', { name: 'c1' }]]),
  });
  return { each, events, replace: (next: List) => void (remotes.all = next) };
}

const [c2, c3] = [remote('c2'), remote('c3')];

it('makes what is new, drops what is gone, and keeps the rest, in the order of the config', () => {
  const { each, events, replace } = of([c2, c3]);
  expect(each.all.map(({ name }) => name)).toEqual(['c2', 'c3', 'c1']);
  const kept = each.get('c3');
  const before = each.all;
  expect(each.all).toBe(before);
  replace([remote('c4'), c3]);
  expect(each.get('c2')).toBeUndefined();
  expect(each.all.map(({ name }) => name)).toEqual(['c4', 'c3', 'c1']);
  expect(each.get('c3')).toBe(kept);
  expect(events).toEqual(['make c2', 'make c3', 'drop c2', 'make c4']);
});

it('drops a remote with other settings before it makes the next of its name', () => {
  const { each, events, replace } = of([c2]);
  const before = each.get('c2');
  replace([remote('c2')]);
  expect(each.get('c2')).not.toBe(before);
  expect(events).toEqual(['make c2', 'drop c2', 'make c2']);
});
