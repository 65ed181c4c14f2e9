import {
  type CalicoApi,
  customResourceKind,
  type LabelSelector,
  type NetworkPolicyPort,
} from '@kube-semaphore/kube-objects';
import { companionPeerLabel } from '../names.ts';
import { calicoTerms } from '../calico/calico-selector.ts';
import { groupedSink } from './grouped-sink.ts';

/** Calico's NetworkPolicies that select GlobalNetworkSets by a label that no other set has. */
export const calicoSink = (apiVersion: CalicoApi) =>
  groupedSink({
    groups: customResourceKind({ apiVersion, kind: 'GlobalNetworkSet', plural: 'globalnetworksets' }),
    policies: customResourceKind({ apiVersion, kind: 'NetworkPolicy', plural: 'networkpolicies' }),
    addresses: 'nets',
    accepts: ({ podSelector }) => selectorText(podSelector).length <= MAX_SELECTOR,
    maxRules: MAX_RULES,
    policyName: (companion) => `${TIER}.${companion.slice(TIER.length + 1 - MAX_NAME).replace(/^[.-]+/, '')}`,
    policySpec: ({ podSelector }, direction, rules) => ({
      tier: TIER,
      // That of Kubernetes' NetworkPolicies, so an earlier Deny still counts.
      order: 1000,
      selector: selectorText(podSelector),
      types: [direction === 'ingress' ? 'Ingress' : 'Egress'],
      [direction]: rules.flatMap(({ ports, peer }) => {
        const remote = { namespaceSelector: 'global()', selector: `${companionPeerLabel} == '${peer}'` };
        return portsByProtocol(ports).map(({ protocol, ports: some }) => ({
          action: 'Allow',
          ...protocol,
          ...(direction === 'ingress'
            ? { source: remote, ...(some.ports && { destination: some }) }
            : { destination: { ...remote, ...some } }),
        }));
      }),
    }),
  });

const TIER = 'default';

/** At most so many characters in the name of an object. */
const MAX_NAME = 253;

/** The longest selector that Calico's API accepts in versions after 3.32, and the most rules per direction. */
const [MAX_SELECTOR, MAX_RULES] = [1024, 1024];

const selectorText = (podSelector: LabelSelector): string =>
  ["projectcalico.org/orchestrator == 'k8s'", ...calicoTerms(podSelector)].join(' && ');

type Ports = {
  readonly protocol?: { readonly protocol: string };
  readonly ports: { readonly ports?: readonly unknown[] };
};

/** A rule of Calico has one protocol; without ports it means all of that protocol, or all protocols. */
function portsByProtocol(ports: readonly NetworkPolicyPort[]): readonly Ports[] {
  if (ports.length === 0) return [{ ports: {} }];
  return Array.from(
    Map.groupBy(ports, ({ protocol }) => protocol),
    ([protocol, some]) => ({
      protocol: { protocol },
      ports: some.some(({ port }) => port === 0) ? {} : { ports: some.map(writtenPort) },
    }),
  );
}

const writtenPort = ({ port, endPort }: NetworkPolicyPort): number | string =>
  endPort === 0 ? port : `${port}:${endPort}`;
