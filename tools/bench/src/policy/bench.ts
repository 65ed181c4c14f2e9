import type { Clusters } from '../load/clusters.ts';
import type { Fleet, Member } from '../load/fleet.ts';
import type { SetWatch } from '../measure/set-watch.ts';

/** What the phases of a bench work on. */
export type Bench = Clusters & { readonly fleet: Fleet; readonly watch: SetWatch };

/** Connections over which pods are changed when it is to go fast: enough to keep the API server busy. */
export const CONNECTIONS = 16;

/** Gives a pod its address, as a kubelet does. */
export async function giveAddress({ remote, fleet }: Bench, member: Member): Promise<void> {
  member.ip = fleet.nextAddress();
  const { namespace, name, ip } = member;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }] };
  const answer = await remote.api.admin.request('PATCH', path, { status });
  if (answer.status !== 200) throw new Error(`PATCH ${path}: ${answer.status} ${String(answer.body['message'])}`);
}
