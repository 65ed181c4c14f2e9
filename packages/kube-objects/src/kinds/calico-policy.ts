import { message, messages, string, strings } from '../fields.ts';
import { identity, type Kind, type KubeObject } from '../kind.ts';
import type { CalicoApi } from './global-network-set.ts';

/** etcd bounds an object to 1.5 MB. */
const LONGEST_SELECTOR = 1_500_000;

const entity = message(1, {
  selector: string(1, LONGEST_SELECTOR),
  namespaceSelector: string(2, LONGEST_SELECTOR),
  serviceAccounts: message(3, { names: strings(1), selector: string(2, LONGEST_SELECTOR) }),
});

const rules = messages(1, { action: string(1), source: entity, destination: entity }, 100_000);

/** Custom resources have no protobuf, so the numbers in this table aren't used. */
const fields = {
  metadata: message(1, identity),
  spec: message(2, { ingress: rules, egress: rules }),
} as const;

/** A policy of Calico, as far as its rules select Pods and sets. */
export function calicoPolicyKind(api: CalicoApi, kind: 'GlobalNetworkPolicy' | 'NetworkPolicy') {
  const [group, version] = api.split('/') as [string, string];
  const plural = kind === 'NetworkPolicy' ? 'networkpolicies' : 'globalnetworkpolicies';
  return { group, version, kind, plural, protobuf: false, fields } as const satisfies Kind;
}

export type CalicoPolicy = KubeObject<ReturnType<typeof calicoPolicyKind>>;
