import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { deployedRights, rulesOf } from '@kube-semaphore/testkit';
import { type BenchCluster, CONNECTIONS, type Rights } from '../load/clusters.ts';
import type { Holding } from '../measure/holdings.ts';
import type { Watched } from '../measure/local-watch.ts';
import { inParallel } from '../measure/pace.ts';
import { removeAll } from '../measure/remove-all.ts';
import type { Bench, Change } from '../phases/bench.ts';
import { type Fleet, type Member, netOf, setOf } from './fleet.ts';

/** The state that all phases of this bench share. */
export type PolicyBench = Bench & {
  /** The pods that change: those of `remote`. */
  readonly fleet: Fleet;
  /** The pods of each of the `remotes`. */
  readonly fleets: readonly Fleet[];
};

/** The API that the Go program writes. */
const API = 'projectcalico.org/v3';

const setsPath = `/apis/${API}/globalnetworksets`;

/** The local sets, by `setOf`. */
export const watchedSets: Watched = { [setsPath]: readSet };

/** A peer also reads a set before it writes it. */
const asPeersDo = {
  apiGroups: ['projectcalico.org'],
  resources: ['globalnetworksets'],
  verbs: ['get', 'patch'],
};

/** The deployed rights of semaphore-policy, and those of peers. */
export const policyRights: Rights = {
  remote: rulesOf(deployedRights('policy/remote')),
  local: [...rulesOf(deployedRights('policy/base')), asPeersDo],
};

/** Requests of each kind before the first measurement. */
const WARM_UP = 50;

/** A pod's next address. */
export function addressChange(bench: PolicyBench, member: Member): Change {
  const ip = bench.fleet.nextAddress();
  return { key: setOf(member), item: netOf({ ip }), apply: () => giveAddress(bench, member, ip) };
}

/** Gives a pod an address, as a kubelet does. */
async function giveAddress({ remote }: PolicyBench, member: Member, ip: string): Promise<void> {
  member.ip = ip;
  const { namespace, name } = member;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] };
  await send(remote, 'PATCH', path, { status });
}

/** Changes an object. */
export async function send({ api }: BenchCluster, method: 'PATCH' | 'PUT', path: string, body: object): Promise<void> {
  const answer = await api.admin.request(method, path, body);
  if (answer.status !== 200) throw new Error(`${method} ${path}: ${answer.status} ${String(answer.body['message'])}`);
}

/** Changes some pods first, so that lazy work of API servers isn't measured. */
export async function warmUpPods(bench: PolicyBench): Promise<void> {
  const changes = bench.fleet.members.slice(-WARM_UP).map((member) => addressChange(bench, member));
  await inParallel(changes, CONNECTIONS, ({ apply }) => apply());
}

/** Writes some sets first, too. */
export async function warmUpSets(bench: Bench): Promise<void> {
  const names = Array.from({ length: WARM_UP }, (_, index) => `warm-up-${index}`);
  await inParallel(names, CONNECTIONS, (name) =>
    bench.local.api.admin.create(setsPath, {
      apiVersion: API,
      kind: 'GlobalNetworkSet',
      metadata: { name },
      spec: { nets: [] },
    }),
  );
  await removeSets(bench);
}

/** Deletes all local sets. */
export async function removeSets({ watch, local }: Pick<Bench, 'watch' | 'local'>): Promise<void> {
  await removeAll(local.api, watch, [setsPath]);
}

/** Reads the labels of any domain, as releases differ. */
function readSet({ metadata: { labels = {} }, ...object }: KubeObject): Holding {
  const label = (name: string) => Object.entries(labels).find(([key]) => key.endsWith(`/${name}`))?.[1] ?? '';
  const { nets = [] } = (object['spec'] ?? {}) as { nets?: string[] };
  return { key: `${label('namespace')}/${label('name')}`, items: nets };
}
