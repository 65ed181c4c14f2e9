import { digits } from '../load/names.ts';
import type { Plan } from '../many-remotes/shop.ts';

/** What is measured: policy with sets, policy with companions of NetworkPolicies, and the two others. */
export const growing = ['policy', 'companions', 'service-mirror', 'wireguard'] as const;
export type Growing = (typeof growing)[number];

/** The sizes at 100 percent, of each remote. 250 remotes have 250,000 Pods in 5,000 sets, and 10,000 Services. */
const [WORKLOADS, PODS, ENDPOINTS] = [20, 50, 25];

/** NetworkPolicies of the local cluster, whatever the number of remotes. Each names the Pods of a workload in every cluster. */
export const POLICIES = 1000;

/** What the program is measured with. */
export type Objects = 'Pods' | 'Services';

/**
 * What each of the remotes has, with as many percent of the addresses: 20 workloads of 50 Pods; or 20 Services to mirror, 10
 * global and 10 exported ones, of 25 endpoints each. The global and the exported ones have one name everywhere.
 */
export function growingPlans(objects: Objects, { remotes, percent }: { remotes: number; percent: number }): Plan[] {
  const count = (whole: number): number => Math.ceil((whole * percent) / 100);
  const workloads = percent === 0 ? [] : Array.from({ length: WORKLOADS }, (_, index) => index);
  const plansOf = (remote: number, workload: number): Plan[] => {
    const named = digits(workload, 3);
    if (objects === 'Services') {
      const shared = { subject: workload % 2 === 0 ? 'global Service' : 'import', name: `shared-${named}` } as const;
      return [{ subject: 'mirror' as const, name: `mirrored-${named}` }, shared].map((each) => {
        return { ...each, remote, ips: count(ENDPOINTS) };
      });
    }
    const app = digits((remote * WORKLOADS + workload) % POLICIES, 3);
    return Array.from({ length: count(PODS) }, (_, pod) => {
      return { subject: 'companion', remote, name: `pod-${app}-${digits(pod, 4)}`, ips: 1 };
    });
  };
  return Array.from({ length: remotes }, (_, remote) => workloads.flatMap((each) => plansOf(remote, each))).flat();
}
