import type { Pod } from '@kube-semaphore/kube-objects';
import { isDnsLabel, isLabelValue } from '@kube-semaphore/naming';
import { addressRefusal, type AddressRules, parseIp } from '@kube-semaphore/net';
import { quoted } from '@kube-semaphore/text';
import type { Pair } from './labels.ts';

/** What is kept of a remote Pod: 50,000 of these lie in the store. */
export type Member = {
  readonly uid: string;
  readonly namespace: string;
  /** The Pod's name. */
  readonly name: string;
  /** The value of its name label. */
  readonly app: string;
  /** Canonical, at least one. */
  readonly ips: readonly string[];
  /** Its addresses are its node's. */
  readonly hostNetwork: boolean;
  /** A list lacked it and wasn't believed; or it was in a set when we started, and no list has shown it yet. */
  readonly held?: true;
};

/**
 * Why a Pod or one of its addresses counts for nothing. `expected`: the normal course of things. `problem`: somebody
 * should look. `reason` is one of a few words, fit for a metric's label; `detail` is for people.
 */
export type PodDiagnostic = {
  readonly kind: 'expected' | 'problem';
  readonly reason:
    | 'finished'
    | 'no-address'
    | 'bad-namespace'
    | 'bad-label'
    | 'bad-address'
    | 'address-not-allowed'
    | 'too-large';
  readonly detail: string;
};

/** A set's pair and who is in it; at least one member, in no order. */
export type PairMembers = Pair & { readonly members: readonly Member[] };

export type Membership = { readonly member: Member | undefined; readonly skipped: readonly PodDiagnostic[] };

export type MembershipRules = {
  /** Key of the name label: `<domain>/name`. */
  readonly nameLabel: string;
  /** Which addresses the remote may bring into local sets. */
  readonly addresses: AddressRules;
  /** One string for each text. Thousands of Pods share a namespace and a label value, but each is decoded anew. */
  readonly intern: (text: string) => string;
};

const FINISHED = skip('expected', 'finished', 'the Pod has run to its end, and its address may be given to another');
const NO_ADDRESS = skip('expected', 'no-address', 'the Pod has no address yet');
// One for all: nearly every Pod of the store has it.
const NOTHING_SKIPPED: readonly PodDiagnostic[] = [];
// The watch selects by the label, so this Pod isn't for us to judge.
const NOBODY: Membership = { member: undefined, skipped: NOTHING_SKIPPED };

/**
 * Reads a remote Pod. The remote is half trusted, so whatever of it could end up in a local object is checked: the
 * namespace and the label's value are what labels may hold, the addresses are addresses, and allowed ones.
 *
 * @returns no member if the Pod has no good address left; what was skipped, in the order of `status.podIPs`
 */
export function membershipOf({ metadata, spec, status }: Pod, rules: MembershipRules): Membership {
  const { uid, namespace, name } = metadata;
  const app = metadata.labels[rules.nameLabel];
  if (app === undefined) return NOBODY;
  if (!isLabelValue(app)) {
    return nobody(skip('problem', 'bad-label', `${rules.nameLabel}=${quoted(app)} is no label value`));
  }
  if (!isDnsLabel(namespace)) {
    return nobody(skip('problem', 'bad-namespace', `${quoted(namespace)} is no name of a namespace`));
  }
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return nobody(FINISHED);
  if (status.podIPs.length === 0) return nobody(NO_ADDRESS);

  const { hostNetwork } = spec;
  const ips: string[] = [];
  const bad: PodDiagnostic[] = [];
  for (const { ip: raw } of status.podIPs) {
    const ip = parseIp(raw);
    const refusal = ip.ok
      ? addressRefusal(ip.value, rules.addresses)
      : ({ reason: 'bad-address', detail: ip.reason } as const);
    if (ip.ok && refusal === undefined) ips.push(ip.value);
    if (refusal === undefined) continue;
    // A node's address is no Pod's: that it is in no allowed block is nothing to alert about.
    const isExpected = hostNetwork && refusal.reason === 'address-not-allowed';
    bad.push(skip(isExpected ? 'expected' : 'problem', refusal.reason, refusal.detail));
  }
  const skipped = bad.length === 0 ? NOTHING_SKIPPED : bad;
  if (ips.length === 0) return { member: undefined, skipped };
  const member = { uid, namespace: rules.intern(namespace), name, app: rules.intern(app), ips, hostNetwork };
  return { member, skipped };
}

/** Whether two versions of one Pod (same UID) are the same to us; a heartbeat or a new annotation is no change. */
export function isSameMember(a: Member, b: Member): boolean {
  return (
    a.app === b.app &&
    a.hostNetwork === b.hostNetwork &&
    a.held === b.held &&
    a.ips.length === b.ips.length &&
    a.ips.every((ip, i) => ip === b.ips[i])
  );
}

function nobody(reason: PodDiagnostic): Membership {
  return { member: undefined, skipped: [reason] };
}

function skip(kind: PodDiagnostic['kind'], reason: PodDiagnostic['reason'], detail: string): PodDiagnostic {
  return { kind, reason, detail };
}
