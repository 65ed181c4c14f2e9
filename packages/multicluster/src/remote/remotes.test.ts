import { once } from 'node:events';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { eventually } from '@kube-semaphore/eventually';
import type { KubeClient } from '@kube-semaphore/kube-client';
import { ConfigError, createMetrics, sharedMetrics } from '@kube-semaphore/runtime';
import { describe, expect, it } from 'vitest';
import type { NamedReference } from '../config/cluster-references.ts';
import { type RemoteConfig, Remotes } from './remotes.ts';

type Settings = RemoteConfig & { readonly cidr: string };

const at = (path: string) => ({ kind: 'kubeconfig', path }) as const;
const remote = (name: string, cidr = '10.0.0.0/8', path = `/${name}`): Settings => ({
  name,
  cidr,
  reference: at(path),
});

const table = {
  ...sharedMetrics('app', []),
  heldDeletions: { name: 'app_held_deletions', type: 'gauge', help: 'Held.', labels: { remote: {} } },
} as const;

/** Remotes of these settings, what happens to them in order, and what is left. A reference to `/none` can't be opened. */
function remotesOf(...settings: readonly Settings[]) {
  const events: string[] = [];
  const { metrics, registry, series } = createMetrics(table);
  const say = () => undefined;
  const connectionOf = ({ reference }: Pick<NamedReference, 'reference'>) =>
    ({ path: (reference as ReturnType<typeof at>).path }) as unknown as Connection;
  const pathOf = (connection: Connection) => (connection as unknown as { path: string }).path;
  const open = (places: readonly NamedReference[]): Promise<readonly Connection[]> => {
    if (places.some(({ reference }) => (reference as ReturnType<typeof at>).path === '/none'))
      return Promise.reject(new ConfigError('/none is missing'));
    const opened = places.map(connectionOf);
    for (const connection of opened) events.push(`open ${pathOf(connection)}`);
    return Promise.resolve(opened);
  };
  const remotes = new Remotes<Settings>({
    settings,
    connections: settings.map(connectionOf),
    clusters: { open, close: (connection) => events.push(`close ${pathOf(connection)}`) },
    references: (next) => next.map(({ name, reference }) => ({ at: name, reference })),
    clientOf: (connection) => ({ connection }) as unknown as KubeClient,
    series: {
      begin: ({ name }) => series.begin({ remote: [name] }),
      end: ({ name }) => series.end({ remote: [name] }),
    },
    metrics,
    log: { trace: say, debug: say, info: say, warn: say, error: say },
    holdMs: 0,
  });
  const following = new Set<string>();
  const run = (signal: AbortSignal) =>
    remotes.run(
      async ({ settings: { name, cidr } }, running) => {
        events.push(`follow ${name} ${cidr}`);
        following.add(name);
        if (!running.signal.aborted) await once(running.signal, 'abort');
        following.delete(name);
        events.push(`leave ${name}`);
      },
      { signal },
    );
  return { remotes, run, events, following, registry };
}

const names = ({ all }: Pick<Remotes<Settings>, 'all'>) => all.map(({ settings }) => settings.name);

describe('the remotes of a changed config', () => {
  it('come and go, and others are not touched', async () => {
    const { remotes, run, events } = remotesOf(remote('c2'), remote('c3'));
    const stop = new AbortController();
    const running = run(stop.signal);
    const kept = remotes.get('c3');
    const changes = await remotes.replace([remote('c4'), remote('c3')]);
    expect(changes).toEqual({ added: ['c4'], removed: ['c2'], changed: [] });
    expect(names(remotes)).toEqual(['c4', 'c3']);
    expect(remotes.get('c3')).toBe(kept);
    stop.abort();
    await running;
    expect(events).toEqual([
      'follow c2 10.0.0.0/8',
      'follow c3 10.0.0.0/8',
      'open /c4',
      'leave c2',
      'close /c2',
      'follow c4 10.0.0.0/8',
      'leave c3',
      'leave c4',
    ]);
  });

  it('go and come again over the same connection, if other settings changed', async () => {
    const { remotes, run, events } = remotesOf(remote('c2'));
    const stop = new AbortController();
    const running = run(stop.signal);
    expect(await remotes.replace([remote('c2', '10.9.0.0/16')])).toEqual({ added: [], removed: [], changed: ['c2'] });
    expect(events).toEqual(['follow c2 10.0.0.0/8', 'leave c2', 'follow c2 10.9.0.0/16']);
    await remotes.replace([remote('c2', '10.9.0.0/16', '/new')]);
    expect(events.slice(3)).toEqual(['open /new', 'leave c2', 'close /c2', 'follow c2 10.9.0.0/16']);
    stop.abort();
    await running;
  });

  it('all stay as they are, if there is no way to connect to one', async () => {
    const { remotes, run, events } = remotesOf(remote('c2'));
    const stop = new AbortController();
    const running = run(stop.signal);
    await expect(remotes.replace([remote('c3', '10.0.0.0/8', '/none')])).rejects.toThrow('/none is missing');
    expect([names(remotes), events]).toEqual([['c2'], ['follow c2 10.0.0.0/8']]);
    stop.abort();
    await running;
  });

  it('begin again over the same connection, after a change that is under way', async () => {
    const { remotes, run, events } = remotesOf(remote('c2'));
    const stop = new AbortController();
    const running = run(stop.signal);
    const first = remotes.get('c2');
    await Promise.all([remotes.replace([remote('c2'), remote('c3')]), remotes.restart()]);
    expect(remotes.get('c2')).not.toBe(first);
    expect(events).toEqual([
      'follow c2 10.0.0.0/8',
      'open /c3',
      'follow c3 10.0.0.0/8',
      'leave c2',
      'leave c3',
      'follow c2 10.0.0.0/8',
      'follow c3 10.0.0.0/8',
    ]);
    stop.abort();
    await running;
  });

  it('are followed once the app is there, if they change before', async () => {
    const { remotes, run, events } = remotesOf(remote('c2'));
    await remotes.replace([remote('c3')]);
    const stop = new AbortController();
    const running = run(stop.signal);
    await eventually(() => events, ['open /c3', 'close /c2', 'follow c3 10.0.0.0/8']);
    stop.abort();
    await running;
  });

  it('leave no series and no one who follows them, however often they come and go', async () => {
    const { remotes, run, following, registry } = remotesOf(remote('c2'));
    const stop = new AbortController();
    const running = run(stop.signal);
    const before = await registry.metrics();
    for (let i = 0; i < 100; i++) {
      await remotes.replace([remote('c2'), remote(`more-${i}`)]);
      await remotes.replace([remote('c2')]);
    }
    expect([...following]).toEqual(['c2']);
    expect(await registry.metrics()).toBe(before);
    stop.abort();
    await running;
  });
});

it('ends with what a follower throws', async () => {
  const { remotes } = remotesOf(remote('c2'), remote('c3'));
  const stop = new AbortController();
  const failing = remotes.run(
    async ({ settings: { name } }, { signal }) => {
      if (name === 'c3') throw new Error('broken');
      if (!signal.aborted) await once(signal, 'abort');
    },
    { signal: stop.signal },
  );
  await expect(failing).rejects.toThrow('broken');
});
