import { parseCidr } from '@kube-semaphore/net';
import { invalidValue, notSupported, required } from '../http/causes.ts';
import { isPortNumber, protocols } from './ports.ts';
import type { Cause } from '../http/status.ts';
import type { KubeObject } from '../test-cluster.ts';

type Port = { readonly protocol?: string; readonly port?: number | string; readonly endPort?: number };
type Peer = { readonly ipBlock?: { readonly cidr?: string } };
type Rule = { readonly ports?: readonly Port[]; readonly from?: readonly Peer[]; readonly to?: readonly Peer[] };
type Spec = {
  readonly ingress?: readonly Rule[];
  readonly egress?: readonly Rule[];
  readonly policyTypes?: readonly string[];
};

/** As SetDefaults_NetworkPolicy and SetDefaults_NetworkPolicyPort of kubernetes/pkg/apis/networking/v1. */
export function defaultNetworkPolicy(policy: KubeObject): KubeObject {
  const spec = (policy['spec'] ?? {}) as Spec;
  const { ingress, egress } = spec;
  const policyTypes = spec.policyTypes ?? [
    'Ingress',
    ...(egress === undefined || egress.length === 0 ? [] : ['Egress']),
  ];
  return {
    ...policy,
    spec: {
      podSelector: {},
      ...spec,
      ...(ingress && { ingress: ingress.map(withProtocols) }),
      ...(egress && { egress: egress.map(withProtocols) }),
      policyTypes,
    },
  };
}

const withProtocols = (rule: Rule): Rule =>
  rule.ports === undefined ? rule : { ...rule, ports: rule.ports.map((port) => ({ protocol: 'TCP', ...port })) };

/** The rules that our companions could break. Selectors and exceptions of an ipBlock aren't checked. */
export function* networkPolicyRules(policy: KubeObject): Generator<Cause> {
  const { ingress = [], egress = [], policyTypes = [] } = policy['spec'] as Spec;
  for (const [index, rule] of ingress.entries()) yield* ruleRules(`spec.ingress[${index}]`, rule);
  for (const [index, rule] of egress.entries()) yield* ruleRules(`spec.egress[${index}]`, rule);
  for (const [index, type] of policyTypes.entries()) {
    if (!['Ingress', 'Egress'].includes(type))
      yield notSupported(`spec.policyTypes[${index}]`, type, ['Egress', 'Ingress']);
  }
}

function* ruleRules(field: string, { ports = [], from = [], to = [] }: Rule): Generator<Cause> {
  for (const [index, port] of ports.entries()) yield* portRules(`${field}.ports[${index}]`, port);
  for (const [side, peers] of Object.entries({ from, to })) {
    for (const [index, peer] of peers.entries()) yield* peerRules(`${field}.${side}[${index}]`, peer);
  }
}

function* portRules(field: string, { protocol = '', port, endPort }: Port): Generator<Cause> {
  if (!protocols.includes(protocol)) yield notSupported(`${field}.protocol`, protocol, protocols);
  if (typeof port !== 'number') return;
  if (!isPortNumber(port)) yield invalidValue(`${field}.port`, port, 'must be between 1 and 65535, inclusive');
  if (endPort !== undefined && endPort < port)
    yield invalidValue(`${field}.endPort`, endPort, 'must be greater than or equal to `port`');
}

function* peerRules(field: string, peer: Peer): Generator<Cause> {
  if (Object.keys(peer).length === 0) yield required(field, 'must specify a peer');
  if (peer.ipBlock === undefined) return;
  const { cidr = '' } = peer.ipBlock;
  if (cidr === '') yield required(`${field}.ipBlock.cidr`);
  else if (!parseCidr(cidr).ok) yield invalidValue(`${field}.ipBlock.cidr`, cidr, 'must be a valid CIDR value');
}
