import { hash } from 'node:crypto';
import type { PodWithPorts } from '@kube-semaphore/kube-objects';
import { isDnsLabel } from '@kube-semaphore/naming';
import { addressRefusal, type AddressRules, hostCidr, parseIp } from '@kube-semaphore/net';
import { quoted } from '@kube-semaphore/text';
import { isFinished, isReleased, type PodDiagnostic } from './unusable-pod.ts';
import type { NamedPort } from '../policies/ports.ts';
import { type Labels, sortedByKey } from '../policies/selector.ts';

/** What selectors and named ports can tell of a Pod. Pods of one ReplicaSet share it. */
export type PodIdentity = {
  readonly namespace: string;
  readonly labels: Labels;
  /** In the order of the containers. */
  readonly namedPorts: readonly NamedPort[];
  /** Equal for equal identities of one namespace, and for no others. */
  readonly text: string;
};

/** A Pod of a remote that selectors may select. */
export type PeerPod = {
  readonly identity: PodIdentity;
  /** Canonical `/32` and `/128`, at least one. */
  readonly cidrs: readonly string[];
};

export type PeerPodRules = {
  /** Which addresses the remote may bring in. */
  readonly addresses: AddressRules;
  /** Keys of Pod labels that some podSelector names. */
  readonly selectorKeys: ReadonlySet<string>;
  /** One object for equal identities: 50,000 Pods have some thousand. */
  readonly intern: (identity: PodIdentity) => PodIdentity;
};

const NOTHING_SKIPPED: readonly PodDiagnostic[] = [];

/**
 * Reads a Pod of a remote for NetworkPolicies. A Pod on the host's network has the address of its node, so no peer selects
 * it; a Pod that ran to its end has no address any more, nor has one whose address Calico took back. Labels are the remote's
 * word; addresses are checked.
 *
 * @returns no Pod if it has no good address, with what was skipped
 */
export function peerPodOf(
  { metadata, spec, status }: PodWithPorts,
  { addresses, selectorKeys, intern }: PeerPodRules,
): { readonly pod: PeerPod | undefined; readonly skipped: readonly PodDiagnostic[] } {
  if (spec.hostNetwork || isFinished(status) || isReleased(metadata))
    return { pod: undefined, skipped: NOTHING_SKIPPED };
  if (!isDnsLabel(metadata.namespace)) {
    const detail = `${quoted(metadata.namespace)} is not a valid namespace name`;
    return { pod: undefined, skipped: [{ kind: 'problem', reason: 'bad-namespace', detail }] };
  }
  const cidrs: string[] = [];
  const skipped: PodDiagnostic[] = [];
  for (const { ip: raw } of status.podIPs) {
    const ip = parseIp(raw);
    const refusal = ip.ok
      ? addressRefusal(ip.value, addresses)
      : ({ reason: 'bad-address', detail: ip.reason } as const);
    if (ip.ok && refusal === undefined) cidrs.push(hostCidr(ip.value));
    // What the config leaves out is no problem.
    else if (refusal!.reason !== 'other-family') skipped.push({ kind: 'problem', ...refusal! });
  }
  if (cidrs.length === 0) return { pod: undefined, skipped };
  const labels = withoutUniqueLabels(metadata.labels, selectorKeys);
  const identity = intern(podIdentity(metadata.namespace, labels, namedPortsOf(spec)));
  return { pod: { identity, cidrs }, skipped: skipped.length === 0 ? NOTHING_SKIPPED : skipped };
}

/** The Pod without addresses that it lost; undefined if none is left. */
export function withoutCidrs(pod: PeerPod, lost: readonly string[]): PeerPod | undefined {
  const cidrs = pod.cidrs.filter((cidr) => !lost.includes(cidr));
  return cidrs.length === 0 ? undefined : { ...pod, cidrs };
}

export function podIdentity(namespace: string, labels: Labels, namedPorts: readonly NamedPort[]): PodIdentity {
  // The labels again would take as much memory as the labels.
  const text = hash('sha256', JSON.stringify([sortedByKey(labels), namedPorts]), 'base64');
  return { namespace, labels, namedPorts, text };
}

/**
 * Labels that a controller gives to one Pod, or to the Pods of one run, alone. Without them few identities remain. A
 * podSelector that names one keeps it.
 */
export const uniqueLabels: readonly string[] = [
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-completion-index',
  'batch.kubernetes.io/job-name',
  'controller-uid',
  'job-name',
];

function withoutUniqueLabels(labels: Labels, selectorKeys: ReadonlySet<string>): Labels {
  const unused = uniqueLabels.filter((key) => Object.hasOwn(labels, key) && !selectorKeys.has(key));
  if (unused.length === 0) return labels;
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !unused.includes(key)));
}

/** Whether a CIDR is one address, canonical, that the remote may bring in. */
export function isAllowedHost(cidr: string, addresses: AddressRules): boolean {
  const ip = parseIp(cidr.slice(0, Math.max(0, cidr.lastIndexOf('/'))));
  return ip.ok && hostCidr(ip.value) === cidr && addressRefusal(ip.value, addresses) === undefined;
}

/** An init container that is restarted always runs beside the others (a sidecar). */
export function namedPortsOf({ containers, initContainers }: PodWithPorts['spec']): readonly NamedPort[] {
  const running = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
  return running.flatMap(({ ports }) =>
    ports.flatMap(({ name, protocol, containerPort }) =>
      name === '' ? [] : [{ name, protocol: protocol || 'TCP', port: containerPort }],
    ),
  );
}
