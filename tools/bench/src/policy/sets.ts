import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { labelDomains, nameLabel } from '@kube-semaphore/network-policies';
import { deployedRights, rulesOf } from '@kube-semaphore/testkit';
import { CONNECTIONS, type Rights } from '../load/clusters.ts';
import type { Holding } from '../measure/holdings.ts';
import type { Watched } from '../measure/local-watch.ts';
import { inParallel } from '../measure/pace.ts';
import { type Bench, removeAll } from '../phases/bench.ts';
import { WRITES_PER_SECOND } from '../phases/race.ts';
import type { Targets } from '../report/report.ts';
import type { Fleet } from './fleet.ts';

/** What the program writes for the pods. */
export type Kind = {
  /** In the singular, as in the table. */
  readonly object: string;
  readonly rights: Rights;
  /** The local objects, by `setOf`. */
  readonly watched: Watched;
  /** All of them, and no others. */
  readonly collections: (fleet: Fleet) => readonly string[];
  /** The labels of the pods that the program lists. */
  readonly selector: string;
  /** Measures what the API server alone takes, and warms it up, so that its lazy work isn't measured. */
  readonly prepare: (
    bench: Bench,
    fleet: Fleet,
    options: { changes: number; say: (what: string) => void },
  ) => Promise<{ facts: readonly string[]; targetsOf: (conditions: Conditions) => Targets }>;
};

/** The conditions of the targets. */
export type Conditions = {
  readonly pods: number;
  readonly sets: number;
  /** Seconds of the stream at the start of a cold sync. */
  readonly bareDownloadSeconds: number;
};

/** The workload that is rolled out. */
export const ROLLOUT = 'rollout';

/** Writes before the first measurement. */
const WARM_UP = 50;

/** In MB, for 500 sets of this number of pods. */
const PEAK_MEMORY: Readonly<Record<number, number>> = { 10_000: 80, 50_000: 115 };

/** The API that the Go program writes. */
const API = 'projectcalico.org/v3';

const path = `/apis/${API}/globalnetworksets`;

/** A peer also reads a set before it writes it. */
const asPeersDo = { apiGroups: ['projectcalico.org'], resources: ['globalnetworksets'], verbs: ['get', 'patch'] };

/** The local sets. */
export const sets: Kind = {
  object: 'set',
  rights: {
    remote: rulesOf(deployedRights('policy/remote')),
    local: [...rulesOf(deployedRights('policy/base')), asPeersDo],
  },
  watched: { [path]: readSet },
  collections: () => [path],
  selector: nameLabel(labelDomains[0]),
  prepare: async (bench) => {
    const names = Array.from({ length: WARM_UP }, (_, index) => `warm-up-${index}`);
    await inParallel(names, CONNECTIONS, (name) => {
      const set = { apiVersion: API, kind: 'GlobalNetworkSet', metadata: { name }, spec: { nets: [] } };
      return bench.local.api.admin.create(path, set);
    });
    await removeAll(bench, [path]);
    return { facts: [], targetsOf: setTargets };
  },
};

/** Exported for its test. */
export function setTargets({ pods, sets: count, bareDownloadSeconds }: Conditions): Targets {
  return {
    // A program must read all pods before it writes.
    'cold sync: first set written after': 1.3 * bareDownloadSeconds,
    'cold sync: all sets written after': 1.5 * bareDownloadSeconds,
    'cold sync: peak memory': count === 500 ? PEAK_MEMORY[pods] : undefined,
    '20 changes/s: requests per written set': 1,
    'rollout: writes per second': WRITES_PER_SECOND,
    'idle: CPU of one core': 0.5,
  };
}

/** Reads the labels of any domain, as releases differ. */
function readSet({ metadata: { labels = {} }, ...object }: KubeObject): Holding {
  const label = (name: string) => Object.entries(labels).find(([key]) => key.endsWith(`/${name}`))?.[1] ?? '';
  const { nets = [] } = (object['spec'] ?? {}) as { nets?: string[] };
  return { key: `${label('namespace')}/${label('name')}`, items: nets };
}
