import type { Pod } from '@kube-semaphore/kube-objects';
import { parseIp } from '@kube-semaphore/net';
import { AddressIndex, type Holder, type Lifetime, lifetimeOf } from './address-index.ts';
import { isFinished, isReleased, type PodDiagnostic } from './unusable-pod.ts';

/** The clocks of two clusters differ, and a kubelet needs some time to report that a Pod ended. */
const SLACK_MS = 60_000;

/**
 * When a Pod is late, as that of a lost node: it should be gone, and its node doesn't say whether it is, so its network may have given
 * its addresses to other Pods. Undefined unless it is being deleted.
 */
export const lateAtMs = ({ deletionMs }: Lifetime): number | undefined =>
  deletionMs === undefined ? undefined : deletionMs + SLACK_MS;

export const isLate = (pod: Lifetime, nowMs: number): boolean => (lateAtMs(pod) ?? Infinity) <= nowMs;

/** Addresses that a late Pod doesn't have any more, and what to say about it. */
export type Loss = { readonly lost: readonly string[]; readonly skipped: readonly PodDiagnostic[] };

/** Why a late Pod doesn't have an address any more, in words; undefined: it has it. */
export const lossWords = ({ lost, skipped }: Loss, ip: string): string | undefined =>
  lost.includes(ip) ? skipped.map(({ detail }) => detail).join('; ') : undefined;

export type LossRules = {
  /** Who has an address now, as far as Pods are watched. */
  readonly ownerOf: (address: string) => Holder | undefined;
  /** Whether a late Pod has no address: where only labelled Pods are watched, a new owner may not be among them. */
  readonly isTimeEnough: boolean;
};

/**
 * What a late Pod loses: the addresses that another Pod has now, or all.
 *
 * @param addresses IPs, or CIDRs of one IP each
 */
export function lossOf(pod: Holder, addresses: readonly string[], { ownerOf, isTimeEnough }: LossRules): Loss {
  const since = overdueText(pod);
  const reused = addresses.flatMap((address) => {
    const owner = ownerOf(address);
    return owner === undefined || owner.pod === pod.pod ? [] : [{ address, owner: owner.pod }];
  });
  const skipped = reused.map(({ address, owner }): PodDiagnostic => {
    const detail = `${since}, and ${owner} has its address ${withoutPrefix(address)} now`;
    return { kind: 'problem', reason: 'address-reused', detail };
  });
  if (!isTimeEnough || addresses.length === reused.length)
    return { lost: reused.map(({ address }) => address), skipped };
  const rest = addresses.filter((address) => reused.every((each) => each.address !== address));
  const detail = `${since}, and only labelled Pods are watched, so who has ${rest.map(withoutPrefix).join(', ')} now is not known`;
  return { lost: addresses, skipped: [...skipped, { kind: 'problem', reason: 'deletion-overdue', detail }] };
}

/** For people. @param pod late; a remote may say that it has been so for longer than a Date goes back */
export const overdueText = ({ pod, deletionMs = 0 }: Holder): string =>
  `${pod} should be gone since ${new Date(Math.max(0, deletionMs)).toISOString()}`;

/** A Pod, and the addresses that its status says it has. */
export type Addressed = { readonly holder: Holder; readonly addresses: readonly string[] };

/** Addresses are canonical: none if it uses those of its node, or if it gave them back. */
export function addressedPod({ metadata, spec, status }: Pod): Addressed {
  const holder = { pod: `${metadata.namespace}/${metadata.name}`, ...lifetimeOf(metadata) };
  if (spec.hostNetwork || isFinished(status) || isReleased(metadata)) return { holder, addresses: [] };
  return { holder, addresses: ipsOf(status) };
}

/** Canonical, without those that are not valid. */
export const ipsOf = ({ podIPs }: Pod['status']): readonly string[] =>
  podIPs.flatMap(({ ip: raw }) => {
    const ip = parseIp(raw);
    return ip.ok ? [ip.value] : [];
  });

export function addressIndexOf(pods: readonly Addressed[]): AddressIndex {
  const index = new AddressIndex();
  for (const { holder, addresses } of pods) for (const address of addresses) index.add(address, holder);
  return index;
}

/** What late Pods lose, by `namespace/name`. @param pods all that are watched */
export function lossesOf(
  pods: readonly Addressed[],
  { nowMs, isTimeEnough }: { readonly nowMs: number } & Pick<LossRules, 'isTimeEnough'>,
): ReadonlyMap<string, Loss> {
  const late = pods.filter(({ holder }) => isLate(holder, nowMs));
  if (late.length === 0) return new Map();
  const index = addressIndexOf(pods);
  const rules = { ownerOf: (address: string) => index.ownerOf(address), isTimeEnough };
  return new Map(late.map(({ holder, addresses }) => [holder.pod, lossOf(holder, addresses, rules)]));
}

const withoutPrefix = (address: string): string => address.replace(/\/.*/, '');
