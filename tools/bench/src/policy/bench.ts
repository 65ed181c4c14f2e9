import type { Clusters } from '../load/clusters.ts';
import type { Fleet, Member } from '../load/fleet.ts';
import { inParallel } from '../measure/pace.ts';
import { setsPath, type SetWatch } from '../measure/set-watch.ts';

/** What the phases of a bench work on. */
export type Bench = Clusters & {
  /** The pods that change: those of `remote`. */
  readonly fleet: Fleet;
  /** The pods of each of the `remotes`. */
  readonly fleets: readonly Fleet[];
  readonly watch: SetWatch;
};

/** Connections for what has to be done and isn't measured. */
export const CONNECTIONS = 16;

/** How many requests of each kind an API server has seen before anything is measured. */
const WARM_UP = 50;

/** Gives a pod its next address, as a kubelet does. */
export async function giveAddress({ remote, fleet }: Bench, member: Member): Promise<void> {
  member.ip = fleet.nextAddress();
  const { namespace, name, ip } = member;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] };
  const answer = await remote.api.admin.request('PATCH', path, { status });
  if (answer.status !== 200) throw new Error(`PATCH ${path}: ${answer.status} ${String(answer.body['message'])}`);
}

/** Changes some pods and makes some sets, so that the first program doesn't pay for what API servers put off. */
export async function warmUp(bench: Bench): Promise<void> {
  await inParallel(bench.fleet.members.slice(-WARM_UP), CONNECTIONS, (member) => giveAddress(bench, member));
  const names = Array.from({ length: WARM_UP }, (_, index) => `warm-up-${index}`);
  await inParallel(names, CONNECTIONS, (name) =>
    bench.local.api.admin.create(setsPath, {
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'GlobalNetworkSet',
      metadata: { name },
      spec: { nets: [] },
    }),
  );
  await removeSets(bench);
}

/** Leaves the local cluster without sets; resolves when the watch has seen the last one go. Nobody writes meanwhile. */
export async function removeSets({ watch, local }: Pick<Bench, 'watch' | 'local'>): Promise<void> {
  const { admin } = local.api;
  const sets = await admin.list(setsPath);
  // A watch that lags behind would seem empty before the last set has come.
  await watch.holding(sets.length);
  await inParallel(sets, CONNECTIONS, ({ metadata }) => admin.delete(`${setsPath}/${metadata.name}`));
  await watch.holding(0);
}
