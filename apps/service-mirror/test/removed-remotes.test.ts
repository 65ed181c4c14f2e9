import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Connection } from '@kube-semaphore/cluster-auth';
import { eventually } from '@kube-semaphore/eventually';
import { KubeClient } from '@kube-semaphore/kube-client';
import { SoleLeader } from '@kube-semaphore/leader-election';
import { Clusters, Remotes } from '@kube-semaphore/multicluster';
import { resolveOptions } from '@kube-semaphore/options';
import { createMetrics } from '@kube-semaphore/runtime';
import { Secrets } from '@kube-semaphore/text';
import { expect, onTestFinished } from 'vitest';
import { options as table, program, validate } from '../src/config/options.ts';
import { type RemoteSettings, settingsOfOptions } from '../src/config/settings.ts';
import { metrics as metricTable } from '../src/metrics/metrics.ts';
import { labelsOfRemotes } from '../src/metrics/series.ts';
import { ServiceMirror } from '../src/service-mirror.ts';
import { it } from './support/it.ts';
import { argvOf, usualFlags } from './support/mirror-process.ts';

const userAgent = 'removed-remotes-test';
const say = () => undefined;
const log = { trace: say, debug: say, info: say, warn: say, error: say };

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** All but the first, which stays. A function of its own keeps none of them in a variable. */
const weakly = ({ all }: Pick<Remotes<RemoteSettings>, 'all'>): readonly WeakRef<object>[] =>
  all.slice(1).flatMap((remote) => [new WeakRef<object>(remote), new WeakRef<object>(remote.state)]);

/** How many sockets and timers of this process are in use, also of the API servers. */
const resources = (): number => process.getActiveResourcesInfo().length;

it('gives back the memory, the sockets and the series of a hundred remotes that come and go', async ({
  accounts,
  sources,
  mirrors,
}) => {
  const resolution = await resolveOptions(table, {
    program: { ...program, version: '1.2.3' },
    argv: argvOf(usualFlags(accounts)),
    env: {},
    validate,
  });
  if (resolution.kind !== 'run') throw new Error('invalid flags');
  const options = resolution.config;
  const { remotes: first, ...settings } = settingsOfOptions(options);
  const stop = new AbortController();
  const { signal } = stop;
  const place = { at: 'local', reference: settings.local.reference };
  const clusters = new Clusters({ local: place, warningLog: log, secrets: new Secrets(), userAgent }, { signal });
  const references = (next: readonly RemoteSettings[]) => next.map(({ name, reference }) => ({ at: name, reference }));
  const [local, ...connections] = await clusters.open([place, ...references(first)]);
  const { metrics, registry, series } = createMetrics(metricTable, labelsOfRemotes(first.map(({ name }) => name)));
  const clientOf = (connection: Connection) => new KubeClient({ connection, userAgent });
  const remotes = new Remotes({
    settings: first,
    connections,
    clusters,
    references,
    clientOf,
    series: {
      begin: ({ name }) => series.begin(labelsOfRemotes([name])),
      end: ({ name }) => series.end(labelsOfRemotes([name])),
    },
    metrics,
    log,
    holdMs: options.deletionGuardHoldMs,
  });
  const mirror = new ServiceMirror({
    options,
    settings,
    local: clientOf(local!),
    remotes,
    log,
    metrics,
    leadership: new SoleLeader(),
  });
  const running = mirror.run({ signal });
  onTestFinished(async () => {
    stop.abort();
    await running;
    clusters.closeAll();
  });
  await sources.add({ name: 'web' });
  const mirrorOf = (prefix: string) => `${prefix}-default-73736d-web`;
  const ten = Array.from({ length: 10 }, (_, i): RemoteSettings => ({ ...first[0]!, name: `r${i}`, prefix: `r${i}` }));
  const come = async (): Promise<void> => {
    await mirror.replaceRemotes([...first, ...ten]);
    await eventually(async () => (await mirror.status()).remotes.every(({ synced }) => synced), true);
  };
  const go = (): Promise<unknown> => mirror.replaceRemotes(first);
  // Their mirrors are here from the first time on.
  await come();
  await mirrors.become(Object.fromEntries([...first, ...ten].map(({ prefix }) => [mirrorOf(prefix), []])));
  await go();
  await eventually(() => mirror.isReady().ok, true);
  const before = resources();
  const gone: WeakRef<object>[] = [];
  for (let round = 0; round < 10; round++) {
    await come();
    gone.push(...weakly(remotes));
    await go();
  }
  expect(gone).toHaveLength(200);
  await eventually(resources, (now) => now <= before, { what: 'no more resources than before' });
  const theirs = (await registry.metrics()).split('\n').filter((line) => /="(mirror-|global-)?r\d/.test(line));
  // A mirror of each; it has no slice.
  expect(theirs.toSorted()).toEqual(ten.map(({ name }) => `semaphore_service_mirror_orphans{cluster="${name}"} 1`));
  await eventually(
    () => {
      collectGarbage();
      return gone.filter((each) => each.deref() !== undefined).length;
    },
    0,
    { what: 'no remote in memory', intervalMs: 250 },
  );
});
