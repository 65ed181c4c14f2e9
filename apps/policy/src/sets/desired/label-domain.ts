import { labelDomains } from '@kube-semaphore/network-policies';

/** The keys of the Pods that have the name label of each known domain, by domain. */
export type LabelledPods = ReadonlyMap<string, ReadonlySet<string>>;

export type DomainChoice = {
  readonly domain: string;
  /** How many Pods are in no set because they have only the name label of another domain. */
  readonly overlooked: number;
};

/**
 * The first domain, if neither a flag nor a set names one: the domain in the labels of Pods. If there are both, it is the
 * older one, however many Pods have the other, so the answer doesn't flip when a Pod comes or goes.
 *
 * @returns undefined if no Pod has either
 */
export function chooseDomain(pods: LabelledPods): DomainChoice | undefined {
  const domain = labelDomains.find((candidate) => (pods.get(candidate)?.size ?? 0) > 0);
  if (domain === undefined) return undefined;
  const members = pods.get(domain)!;
  const others = new Set([...pods.values()].flatMap((keys) => [...keys]).filter((key) => !members.has(key)));
  return { domain, overlooked: others.size };
}
