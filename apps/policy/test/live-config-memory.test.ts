import { getEventListeners, setMaxListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '@kube-semaphore/eventually';
import { KubeClient } from '@kube-semaphore/kube-client';
import { SoleLeader } from '@kube-semaphore/leader-election';
import { Remotes, withClusters } from '@kube-semaphore/multicluster';
import { mustParseCidr } from '@kube-semaphore/net';
import { resolveOptions } from '@kube-semaphore/options';
import { createMetrics } from '@kube-semaphore/runtime';
import { Secrets } from '@kube-semaphore/text';
import { expect } from 'vitest';
import { options as table, program, validate } from '../src/config/options.ts';
import type { RemoteSettings } from '../src/config/settings.ts';
import { metrics as metricTable } from '../src/metrics.ts';
import { Policy } from '../src/policy.ts';
import { argvOf, usualFlags } from './support/command-line.ts';
import { it } from './support/it-with-network-policies.ts';
import { K } from './support/user-policies.ts';

const none = (): void => undefined;
const log = { trace: none, debug: none, info: none, warn: none, error: none };
const userAgent = 'test';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

it('forgets a hundred remotes that came and went, with their timers and listeners', async ({
  accounts,
  pods,
  policies,
  sets,
}) => {
  const argv = argvOf({ ...usualFlags(accounts), 'network-policies': 'true' });
  const resolution = await resolveOptions(table, { program: { ...program, version: '1' }, argv, env: {}, validate });
  if (resolution.kind !== 'run') throw new Error(resolution.stderr ?? 'no options');
  const options = resolution.config;
  const remote = (name: string): RemoteSettings => ({
    name,
    clusterSetId: name,
    labels: {},
    reference: { kind: 'kubeconfig', path: accounts.remote.kubeconfig },
    families: undefined,
    allowedPodCidrs: [mustParseCidr('10.4.0.0/16')],
    podResyncPeriodMs: 3_600_000,
  });
  const stay = remote('c2');
  await pods.add({ name: 'a', app: 'app', ips: ['10.4.0.1'] });
  // It names every remote.
  const everyCluster = { namespaceSelector: { matchExpressions: [{ key: K, operator: 'Exists' }] } };
  await policies.add('db', { podSelector: {}, ingress: [{ from: [everyCluster] }] });

  const places = (all: readonly RemoteSettings[]) => all.map(({ name, reference }) => ({ at: name, reference }));
  const local = { at: 'local', reference: { kind: 'kubeconfig', path: accounts.local.kubeconfig } } as const;
  const stop = new AbortController();
  const run = { signal: stop.signal };
  setMaxListeners(0, run.signal);
  const command = { warningLog: log, secrets: new Secrets(), userAgent };
  await withClusters(
    { local, remotes: places([stay]) },
    command,
    run,
    async ({ local: own, remotes: [first], clusters }) => {
      const { metrics, series } = createMetrics(metricTable);
      const remotes = new Remotes({
        settings: [stay],
        connections: [first!],
        clusters,
        references: places,
        clientOf: (connection) => new KubeClient({ connection, userAgent }),
        series: { begin: none, end: ({ name }) => series.end({ remote: [name], cluster: [name] }) },
        metrics,
        log,
        holdMs: options.deletionGuardHoldMs,
      });
      const policy = new Policy({
        options,
        localCidrs: [],
        hostNetworkPods: 'retain',
        client: new KubeClient({ connection: own, userAgent }),
        remotes,
        leadership: new SoleLeader(),
        log,
        metrics,
      });
      const running = policy.run(run);
      const isKnown = () => policy.status().remotes.every(({ synced, objects }) => synced && objects?.['sets'] === 1);
      await eventually(async () => isKnown() && (await policies.companions()).length === remotes.all.length, true);
      const counts = () => ({
        timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
        listeners: getEventListeners(run.signal, 'abort').length,
      });
      const before = counts();

      const seen: WeakRef<object>[] = [];
      const round = async (names: readonly string[]): Promise<void> => {
        await policy.replaceRemotes([stay, ...names.map(remote)]);
        await eventually(isKnown, true);
        for (const { state, client, settings } of remotes.all)
          if (settings.name !== 'c2') seen.push(new WeakRef(state), new WeakRef(client));
        await policy.replaceRemotes([stay]);
      };
      for (let i = 0; i < 100; i += 10) await round(Array.from({ length: 10 }, (_, j) => `many-${i + j}`));
      expect(seen.length).toBe(200);
      const alive = (): number => {
        collectGarbage();
        return seen.filter((each) => each.deref() !== undefined).length;
      };
      await eventually(alive, 0, { intervalMs: 200 });
      // Some are of the API servers, which run in this process.
      await eventually(counts, ({ timers, listeners }) => timers < before.timers + 20 && listeners <= before.listeners);
      expect((await sets.list()).length).toBe(101);
      stop.abort();
      await running;
    },
  );
});
