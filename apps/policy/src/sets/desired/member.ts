import type { Pod } from '@kube-semaphore/kube-objects';
import { isDnsLabel, isLabelValue } from '@kube-semaphore/naming';
import { addressRefusal, type AddressRules, parseIp } from '@kube-semaphore/net';
import { isFinished, isReleased, type PodDiagnostic } from '@kube-semaphore/network-policies';
import { quoted } from '@kube-semaphore/text';
import type { Pair } from './labels.ts';

/** What the store keeps of a remote Pod. There can be 50,000. */
export type Member = {
  readonly uid: string;
  readonly namespace: string;
  /** The Pod's name. */
  readonly name: string;
  /** The value of its name label. */
  readonly app: string;
  /** Canonical; at least one. */
  readonly ips: readonly string[];
  /** Whether its addresses are those of its node. */
  readonly hostNetwork: boolean;
  /** A list that wasn't believed is missing it; or it is from the seed, and no list has shown it yet. */
  readonly held?: true;
};

/** A pair and its members: at least one, in no order. */
export type PairMembers = Pair & { readonly members: readonly Member[] };

export type Membership = { readonly member: Member | undefined; readonly skipped: readonly PodDiagnostic[] };

export type MembershipRules = {
  /** Key of the name label: `<domain>/name`. */
  readonly nameLabel: string;
  /** Which addresses the remote may bring into local sets. */
  readonly addresses: AddressRules;
  /** One string for equal texts: each Pod is decoded anew, but thousands share a namespace and a label value. */
  readonly intern: (text: string) => string;
};

const FINISHED = skip('expected', 'finished', 'the Pod has finished, so another may get its address');
const NO_ADDRESS = skip('expected', 'no-address', 'the Pod has no address yet');
const OTHER_FAMILY = skip('expected', 'other-family', 'families of the remote lacks that of its addresses');
const RELEASED = skip('expected', 'address-released', 'Calico took its address back, so another Pod may get it');
// One for all, as nearly every Pod in the store has it.
const NOTHING_SKIPPED: readonly PodDiagnostic[] = [];
// The watch selects by the label, so there is nothing to report about this Pod.
const NO_MEMBER: Membership = { member: undefined, skipped: NOTHING_SKIPPED };

/**
 * Reads a remote Pod. The remote is half trusted, so everything that could get into a local object is checked: the
 * namespace and the label value must be valid in labels, the addresses must be valid and allowed.
 *
 * @returns no member if the Pod has no valid address; `skipped` in the order of `status.podIPs`
 */
export function membershipOf({ metadata, spec, status }: Pod, rules: MembershipRules): Membership {
  const { uid, namespace, name } = metadata;
  const app = metadata.labels[rules.nameLabel];
  if (app === undefined) return NO_MEMBER;
  if (!isLabelValue(app)) {
    return noMember(skip('problem', 'bad-label', `${rules.nameLabel}=${quoted(app)} is not a valid label value`));
  }
  if (!isDnsLabel(namespace)) {
    return noMember(skip('problem', 'bad-namespace', `${quoted(namespace)} is not a valid namespace name`));
  }
  if (isFinished(status)) return noMember(FINISHED);
  if (isReleased(metadata)) return noMember(RELEASED);
  if (status.podIPs.length === 0) return noMember(NO_ADDRESS);

  const { hostNetwork } = spec;
  const ips: string[] = [];
  const bad: PodDiagnostic[] = [];
  let isOther = false;
  for (const { ip: raw } of status.podIPs) {
    const ip = parseIp(raw);
    const refusal = ip.ok
      ? addressRefusal(ip.value, rules.addresses)
      : ({ reason: 'bad-address', detail: ip.reason } as const);
    if (ip.ok && refusal === undefined) ips.push(ip.value);
    if (refusal === undefined) continue;
    if (refusal.reason === 'other-family') {
      isOther = true;
      continue;
    }
    // A node's address isn't in a block of Pods, so there is nothing to alert about.
    const isExpected = hostNetwork && refusal.reason === 'address-not-allowed';
    bad.push(skip(isExpected ? 'expected' : 'problem', refusal.reason, refusal.detail));
  }
  if (isOther && ips.length + bad.length === 0) return noMember(OTHER_FAMILY);
  const skipped = bad.length === 0 ? NOTHING_SKIPPED : bad;
  if (ips.length === 0) return { member: undefined, skipped };
  const member = { uid, namespace: rules.intern(namespace), name, app: rules.intern(app), ips, hostNetwork };
  return { member, skipped };
}

/** The member without addresses that it lost; undefined if none is left. */
export function withoutIps(member: Member, lost: readonly string[]): Member | undefined {
  const ips = member.ips.filter((ip) => !lost.includes(ip));
  return ips.length === 0 ? undefined : { ...member, ips };
}

/** Whether two versions of one Pod (same UID) make no difference to its sets. */
export function isSameMember(a: Member, b: Member): boolean {
  return (
    a.app === b.app &&
    a.hostNetwork === b.hostNetwork &&
    a.held === b.held &&
    a.ips.length === b.ips.length &&
    a.ips.every((ip, i) => ip === b.ips[i])
  );
}

function noMember(reason: PodDiagnostic): Membership {
  return { member: undefined, skipped: [reason] };
}

function skip(kind: PodDiagnostic['kind'], reason: PodDiagnostic['reason'], detail: string): PodDiagnostic {
  return { kind, reason, detail };
}
