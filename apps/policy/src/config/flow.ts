import { bad, good, type Parsed, parseIp } from '@kube-semaphore/net';
import { quoted } from '@kube-semaphore/text';
import type { FlowPort } from '@kube-semaphore/network-policies';

const workloads = ['pod', 'deployment', 'statefulset', 'daemonset', 'namespace'] as const;

/** One end of a flow as the user names it. */
export type FlowWord =
  | { readonly kind: 'address'; readonly ip: string }
  | {
      readonly kind: (typeof workloads)[number];
      /** Undefined: the local cluster. */
      readonly cluster: string | undefined;
      readonly namespace: string;
      readonly name: string;
    };

/** Reads `[cluster/]NAMESPACE/KIND/NAME`, `[cluster/]namespace/NAME` with that word, or an address. */
export function parseFlowEnd(raw: string): Parsed<FlowWord> {
  const ip = parseIp(raw);
  if (ip.ok) return good({ kind: 'address', ip: ip.value });
  const parts = raw.split('/');
  const [name = '', kind = ''] = parts.toReversed();
  const before = parts.slice(0, -2);
  const found = workloads.find((each) => each === kind);
  const namespace = found === 'namespace' ? name : before.pop();
  if (found === undefined || namespace === undefined || before.length > 1 || parts.includes('')) {
    const kinds = workloads.filter((each) => each !== 'namespace').join(', ');
    const forms = 'an address, [cluster/]NAMESPACE/KIND/NAME or [cluster/]namespace/NAME';
    return bad(`${quoted(raw)} is not ${forms}: kinds are ${kinds}`);
  }
  return good({ kind: found, cluster: before[0], namespace, name });
}

/** Reads `5432` or `5432/TCP`. */
export function parseFlowPort(raw: string): Parsed<FlowPort> {
  const [, digits = '', protocol = 'TCP'] = /^(\d{1,5})(?:\/(tcp|udp|sctp))?$/i.exec(raw) ?? [];
  const port = Number(digits);
  if (port < 1 || port > 65_535) return bad(`${quoted(raw)} is not a port, such as 5432/TCP`);
  return good({ port, protocol: protocol.toUpperCase() });
}
