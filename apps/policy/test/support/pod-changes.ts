import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import type { Dice } from '@kube-semaphore/fault-proxy';
import { RandomChanges } from '@kube-semaphore/testkit';
import type { LabelledPod, Pods } from './pods.ts';
import { labelsOf, type SetView } from './sets.ts';

/** Pods that keep their address and their workload. */
export const staying: readonly (LabelledPod & { readonly app: string; readonly ips: readonly string[] })[] = [
  { name: 'stays-0', app: 'shop', ips: ['10.4.0.1', 'fd00::1'] },
  { name: 'stays-1', app: 'shop', ips: ['10.4.0.2'] },
  { name: 'stays-2', app: 'cart', ips: ['10.4.0.3'] },
];

const NAMES = Array.from({ length: 10 }, (_, index) => `comes-${index}`);
/** One workload has no staying pod, so at times it has no set. */
const APPS = ['shop', 'cart', 'job'];
/** Few, so that at times two pods have the same. */
const randomIp = (dice: Dice) => `10.4.1.${dice.integer(1, 30)}`;

/** Seeded random changes: pods of a remote come, move, change their workload, finish and go. */
export function podChanges({
  remote,
  pods,
  seed,
}: {
  readonly remote: TestCluster;
  readonly pods: Pods;
  readonly seed: number;
}): RandomChanges {
  const makeOne = async (dice: Dice): Promise<void> => {
    const name = dice.pick(NAMES);
    const present = await remote.admin.list('/api/v1/namespaces/default/pods');
    if (!present.some(({ metadata }) => metadata.name === name)) {
      await pods.add({ name, app: dice.pick(APPS), ips: [randomIp(dice)] });
      return;
    }
    switch (dice.pick(['goes', 'goes', 'moves', 'changes its workload', 'ends'])) {
      case 'goes':
        return pods.remove(name);
      case 'moves':
        return pods.setStatus(name, { ips: [randomIp(dice)] });
      case 'changes its workload':
        return pods.relabel(name, dice.pick([...APPS, null]));
      case 'ends':
        return pods.setStatus(name, { phase: dice.pick(['Succeeded', 'Failed']) });
    }
  };
  return new RandomChanges({ seed, makeOne });
}

/** The sets for the present pods of a remote, sorted by name, their nets sorted as texts. */
export async function wantedSets({ admin }: TestCluster): Promise<readonly SetView[]> {
  const pods = (await admin.list('/api/v1/namespaces/default/pods')).flatMap(viewOf);
  const sets = Array.from(
    Map.groupBy(pods, ({ app }) => app),
    ([app, members]) => ({
      name: `c2-default-${app}`,
      labels: labelsOf(app),
      nets: [...new Set(members.flatMap(({ nets }) => nets))].toSorted(),
    }),
  );
  return sets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

type PodStatus = { readonly phase: string; readonly podIPs?: readonly { readonly ip: string }[] };

/** Empty for a pod that is in no set. */
function viewOf({ metadata, status }: KubeObject): { readonly app: string; readonly nets: readonly string[] }[] {
  const { phase, podIPs = [] } = status as PodStatus;
  const app = metadata.labels?.['semaphore.uw.systems/name'];
  if (app === undefined || podIPs.length === 0 || phase === 'Succeeded' || phase === 'Failed') return [];
  return [{ app, nets: podIPs.map(({ ip }) => netOf(ip)) }];
}

/** An address as in a set. */
export const netOf = (ip: string): string => `${ip}/${ip.includes(':') ? 128 : 32}`;
