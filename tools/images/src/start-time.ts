import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedCluster, startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { spawnProgram } from '@kube-semaphore/testkit';
import type { App } from './bundle/bundle.ts';

const STARTS = 5;

/**
 * The time of apps from exec to their first request to an API server, which answers at once.
 *
 * @param launchers of the bundles
 * @returns the median of five starts, in milliseconds
 */
export async function startTimes(launchers: ReadonlyMap<App, string>): Promise<ReadonlyMap<App, number>> {
  const cluster = await startEmbeddedCluster({ name: 'c1' });
  const dir = await mkdtemp(join(tmpdir(), 'start-'));
  try {
    const times = new Map<App, number>();
    for (const [app, launcher] of launchers)
      times.set(app, await startTime(launcher, await argsOf(app, cluster, dir), cluster));
    return times;
  } finally {
    await cluster.stop();
    await rm(dir, { recursive: true });
  }
}

async function startTime(launcher: string, args: readonly string[], cluster: EmbeddedCluster): Promise<number> {
  const times: number[] = [];
  for (let start = 0; start < STARTS; start++) {
    cluster.clearRequests();
    const startedAt = performance.timeOrigin + performance.now();
    // A container with a read-only file system has no cache of compiled code.
    const program = spawnProgram(launcher, args, { NODE_DISABLE_COMPILE_CACHE: '1' });
    try {
      const request = eventually(() => cluster.requests()[0], isDefined, { what: 'a request' });
      // A command may have its answer, and end, before anyone looks for its request.
      const ended = program.exited.then(() => {
        const [first] = cluster.requests();
        if (first === undefined) throw new Error(`${launcher} exited without a request:\n${program.stderr()}`);
        return first;
      });
      const { at } = await Promise.race([request, ended]);
      times.push(at - startedAt);
    } finally {
      await program.stop('SIGKILL');
    }
  }
  return times.toSorted((a, b) => a - b)[Math.floor(STARTS / 2)] ?? Number.NaN;
}

/** Flags for a cluster that is both local and remote, where the app has nothing to do. */
async function argsOf(app: App, { adminKubeconfig: file }: EmbeddedCluster, dir: string): Promise<readonly string[]> {
  const listen = '-listen-address=127.0.0.1:0';
  switch (app) {
    case 'policy':
      return [listen, `-local-kube-config=${file}`, `-target-kube-config=${file}`, '-target-cluster-name=c2'];
    case 'service-mirror':
      return [
        listen,
        `-kube-config=${file}`,
        `-target-kube-config=${file}`,
        '-svc-prefix=c2',
        '-mirror-ns=default',
        '-label-selector=mirror=true',
      ];
    case 'cli':
      return ['status', '--kubeconfig', file];
    case 'wireguard': {
      // Without its own Node, an agent changes nothing on the machine.
      const config = join(dir, 'clusters.json');
      await writeFile(
        config,
        JSON.stringify({
          local: { name: 'c1', kubeConfigPath: file },
          remotes: [{ name: 'c2', kubeConfigPath: file, podSubnet: '10.4.0.0/16' }],
        }),
      );
      return [listen, `-clusters-config=${config}`, '-node-name=absent', `-wg-key-path=${join(dir, 'keys')}`];
    }
  }
}
