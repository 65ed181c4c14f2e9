import { keepRunning } from './keep.ts';
import { faults } from './steps/faults.ts';
import { globals } from './steps/globals.ts';
import { mirrors } from './steps/mirrors.ts';
import { networkPolicies } from './steps/network-policies.ts';
import { sets } from './steps/sets.ts';
import { type Demo, start, type Step } from './steps/start.ts';
import { tunnels } from './steps/tunnels.ts';
import { wholeSystem } from './steps/whole-system.ts';

/** At most 80 columns wide. */
const picture = `
┌ cluster c1 ────────────────┐                    ┌ cluster c2 ───────────────┐
│  semaphore-policy ─────────┼── watches Pods ───▶│  Pods                     │
│    └─▶ GlobalNetworkSets   │                    │                           │
│  Pods                      │◀── watches Pods ───┼─ semaphore-policy         │
│                            │                    │    └─▶ GlobalNetworkSets  │
│  semaphore-service-mirror ─┼─ watches Services ▶│  Services, EndpointSlices │
│    └─▶ Services c2-…, gl-… │                    │                           │
│  semaphore-wireguard ◀═════╪══════ packets ═════╪═▶ semaphore-wireguard     │
└────────────────────────────┘                    └───────────────────────────┘
`;

type Options = Pick<Demo, 'out' | 'started' | 'ability'> & { readonly real: boolean; readonly keep: boolean };

/** Runs all steps, and stops everything. With `keep`, it never ends. */
export async function run({ real, keep, ...rest }: Options): Promise<void> {
  const { out, started, ability } = rest;
  out.say(
    `kube-semaphore connects Kubernetes clusters, without a central part. Each cluster runs three small programs,
    which watch the API servers of the other clusters and write local objects. semaphore-policy is for network policies
    across clusters: it keeps the addresses of another cluster’s pods in GlobalNetworkSets, which Calico policies
    select by label. semaphore-service-mirror is for calls across clusters: it copies Services of another cluster, with
    their endpoints, and merges Services that several clusters have. semaphore-wireguard is for packets: it connects
    the nodes of all clusters by encrypted tunnels, through which their pods reach each other.`,
    picture.trim().split('\n'),
  );
  const demo = await start({ ...rest, real });
  const hasSystem = real && ability.lacks.length === 0;
  const connections = [...mirrors, ...globals, tunnels, ...(hasSystem ? [wholeSystem] : [])];
  const steps: readonly Step[] = [...sets, ...faults, networkPolicies, ...connections];
  for (const step of steps) await step(demo);
  if (keep) await keepRunning(demo);
  await started.close();
  out.say('Everything is stopped and removed. Next, try:', [
    'npm run demo -- --keep   keeps it running, and prints commands to explore it and to break things',
    'npm run demo -- --real   uses real API servers ("npm run binaries" builds them once), then two whole clusters',
  ]);
}
