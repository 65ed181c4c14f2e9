import { labelDomains } from '../names.ts';

/** Which Pods carry the name label of each known domain: their keys, by domain. */
export type LabelledPods = ReadonlyMap<string, ReadonlySet<string>>;

export type DomainChoice = {
  readonly domain: string;
  /** How many Pods carry only the name label of another domain, and so are in no set. */
  readonly overlooked: number;
};

/**
 * The domain to begin with, where neither a flag nor a set names one: the one that Pods carry. Where they carry both, it is
 * the older one, however many carry the other: so the answer doesn't flip with each Pod that comes or goes.
 *
 * @returns undefined where no Pod carries either
 */
export function chooseDomain(pods: LabelledPods): DomainChoice | undefined {
  const domain = labelDomains.find((candidate) => (pods.get(candidate)?.size ?? 0) > 0);
  if (domain === undefined) return undefined;
  const members = pods.get(domain)!;
  const others = new Set([...pods.values()].flatMap((keys) => [...keys]).filter((key) => !members.has(key)));
  return { domain, overlooked: others.size };
}
