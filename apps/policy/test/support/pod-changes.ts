import { setTimeout as delay } from 'node:timers/promises';
import { Dice, type KubeObject, type TestCluster } from '@kube-semaphore/testkit';
import type { LabelledPod, Pods } from './pods.ts';
import { labelsOf, type SetView } from './sets.ts';

/** Pods that keep their address and their workload whatever happens. */
export const staying: readonly (LabelledPod & { readonly app: string; readonly ips: readonly string[] })[] = [
  { name: 'stays-0', app: 'shop', ips: ['10.4.0.1', 'fd00::1'] },
  { name: 'stays-1', app: 'shop', ips: ['10.4.0.2'] },
  { name: 'stays-2', app: 'cart', ips: ['10.4.0.3'] },
];

const NAMES = Array.from({ length: 10 }, (_, index) => `comes-${index}`);
/** One workload has no pod that stays, and so no set at times. */
const APPS = ['shop', 'cart', 'job'];
/** Few, so that two pods have one at times. */
const randomIp = (dice: Dice) => `10.4.1.${dice.integer(1, 30)}`;

/** How long an API server may be away from those who change its pods. */
const PATIENCE_MS = 45_000;

/** Pods of a remote that come, move, change their workload, end and go, at random but by a seed. */
export class PodChanges {
  readonly #remote: TestCluster;
  readonly #pods: Pods;
  readonly #dice: Dice;

  constructor({ remote, pods, seed }: { readonly remote: TestCluster; readonly pods: Pods; readonly seed: number }) {
    this.#remote = remote;
    this.#pods = pods;
    this.#dice = new Dice(seed);
  }

  /**
   * Changes pods one after the other, at least `least` of them, until `isOver`. A change that fails is left: its API
   * server may be what is restarted.
   *
   * @throws {Error} when none can be made for 45 s
   */
  async make({ least, isOver }: { readonly least: number; readonly isOver: () => boolean }): Promise<void> {
    let made = 0;
    let lastMadeAt = performance.now();
    while (made < least || !isOver()) {
      try {
        await this.#makeOne();
        made += 1;
        lastMadeAt = performance.now();
      } catch (cause) {
        if (performance.now() - lastMadeAt > PATIENCE_MS) throw new Error('no pod can be changed', { cause });
      }
      await delay(this.#dice.integer(0, 40));
    }
  }

  async #makeOne(): Promise<void> {
    const dice = this.#dice;
    const name = dice.pick(NAMES);
    const present = await this.#remote.admin.list('/api/v1/namespaces/default/pods');
    if (!present.some(({ metadata }) => metadata.name === name)) {
      await this.#pods.add({ name, app: dice.pick(APPS), ips: [randomIp(dice)] });
      return;
    }
    switch (dice.pick(['goes', 'goes', 'moves', 'changes its workload', 'ends'])) {
      case 'goes':
        return this.#pods.remove(name);
      case 'moves':
        return this.#pods.setStatus(name, { ips: [randomIp(dice)] });
      case 'changes its workload':
        return this.#pods.relabel(name, dice.pick([...APPS, null]));
      case 'ends':
        return this.#pods.setStatus(name, { phase: dice.pick(['Succeeded', 'Failed']) });
    }
  }
}

/** The sets that a remote's pods of now make, sorted by name, their nets sorted as texts. */
export async function wantedSets({ admin }: TestCluster): Promise<readonly SetView[]> {
  const pods = (await admin.list('/api/v1/namespaces/default/pods')).flatMap(viewOf);
  const sets = Array.from(Map.groupBy(pods, ({ app }) => app), ([app, members]) => ({
    name: `c2-default-${app}`,
    labels: labelsOf(app),
    nets: [...new Set(members.flatMap(({ nets }) => nets))].toSorted(),
  }));
  return sets.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

type PodStatus = { readonly phase: string; readonly podIPs?: readonly { readonly ip: string }[] };

/** Nothing of a pod that is in no set. */
function viewOf({ metadata, status }: KubeObject): { readonly app: string; readonly nets: readonly string[] }[] {
  const { phase, podIPs = [] } = status as PodStatus;
  const app = metadata.labels?.['semaphore.uw.systems/name'];
  if (app === undefined || podIPs.length === 0 || phase === 'Succeeded' || phase === 'Failed') return [];
  return [{ app, nets: podIPs.map(({ ip }) => netOf(ip)) }];
}

/** An address as a set has it. */
export const netOf = (ip: string): string => `${ip}/${ip.includes(':') ? 128 : 32}`;
