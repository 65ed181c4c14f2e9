import type { KubeObject } from '@kube-semaphore/embedded-apiserver';

export type Labels = Readonly<Record<string, string>>;

/** A Pod of a {@link PacketSystem}. */
export type PodSpec = {
  readonly labels?: Labels;
  /** Its last number in the network of its cluster or node, unique there. */
  readonly host: number;
  /** Its port of the name `http`. */
  readonly http?: number;
  /** Where it listens. Default: nowhere. */
  readonly ports?: readonly number[];
  /** It has a place, but no API server has it yet. */
  readonly comesLater?: boolean;
};

/** The networks of the Pods of each node of c1, named after its engine, and of each remote. */
const networks = {
  felix: '1.1',
  'kube-network-policies': '1.2',
  'felix-iptables': '1.3',
  c2: '2.0',
  c3: '3.0',
} as const;

/** A node of c1, or a remote. */
export type PodNetwork = keyof typeof networks;

export function ipsOf(network: PodNetwork, host: number): readonly [v4: string, v6: string] {
  const part = networks[network];
  return [`10.${part}.${host}`, `fd00:${part.replace('.', ':')}::${host}`];
}

export function cidrsOf(network: PodNetwork): readonly [v4: string, v6: string] {
  const [v4, v6] = ipsOf(network, 0);
  return [`${v4}/24`, `${v6}/64`];
}

/** @param name with its namespace: `beta/web` */
export function podObject(network: PodNetwork, name: string, { labels, host, http }: PodSpec): KubeObject {
  const [namespace = '', pod = ''] = name.split('/');
  const ports = http === undefined ? [] : [{ name: 'http', containerPort: http, protocol: 'TCP' }];
  const podIPs = ipsOf(network, host).map((ip) => ({ ip }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name: pod, labels: { ...labels } },
    spec: { containers: [{ name: 'app', image: 'app', ports }] },
    status: { phase: 'Running', podIP: podIPs[0]!.ip, podIPs },
  };
}
