import { createHash } from 'node:crypto';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { clusterSetLabel, labelDomains, nameLabel } from '@kube-semaphore/network-policies';
import { endpointSlice, node, pod, service } from '@kube-semaphore/testkit';
import { clusterName } from '../load/clusters.ts';
import { MIRRORS } from '../many-remotes/many-remotes.ts';
import { NAMESPACE, selectors } from '../many-remotes/shop.ts';
import { announcement } from '../wireguard/remote-nodes.ts';
import { namespace, type Placed, type Slot } from './turnover.ts';

/** The remotes that have objects: the second one leaves the config file in each round, and returns. */
export const REMOTES = 2;
const remotes = Array.from({ length: REMOTES }, (_, index) => index + 1);
const everywhere = [0, ...remotes];
const names = remotes.map((remote) => clusterName(remote - 1));

const many = (count: number, slotOf: (index: number) => Slot): Slot[] =>
  Array.from({ length: count }, (_, i) => slotOf(i));

/** Few, so that each has Pods in every remote at any time. */
const APPS = 10;

/** What policy reads: workloads of two Pods, each in a namespace of its own; and local NetworkPolicies that name some in both remotes. */
export const policySlots: readonly Slot[] = [
  ...remotes.flatMap((remote) => many(40, (index) => (nth, version) => workload({ remote, index, nth, version }))),
  ...many(20, (index) => (nth, version) => [
    {
      cluster: 0,
      collection: `/apis/networking.k8s.io/v1/namespaces/${NAMESPACE}/networkpolicies`,
      object: networkPolicy(`policy-${nth}`, `app-${(index + version) % APPS}`),
    },
  ]),
];

function workload(of: { remote: number; index: number; nth: number; version: number }): readonly Placed[] {
  const { remote, index, nth, version } = of;
  const team = `team-${nth}`;
  const labels = { app: `app-${index % APPS}`, [nameLabel(labelDomains[0])]: `set-${nth}` };
  const pods = ['a', 'b'].map((name, i): Placed => {
    const ips = [`11.${remote - 1}.${index}.${((2 * version + i) % 250) + 1}`];
    const object = pod({ namespace: team, name: `pod-${nth}-${name}`, labels, ips, nodeName: 'node-1' });
    return { cluster: remote, collection: `/api/v1/namespaces/${team}/pods`, object };
  });
  return [namespace(remote, team), ...pods];
}

function networkPolicy(name: string, app: string): KubeObject {
  const namespaceSelector = { matchExpressions: [{ key: clusterSetLabel, operator: 'In', values: names }] };
  const from = [{ namespaceSelector, podSelector: { matchLabels: { app } } }];
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { namespace: NAMESPACE, name },
    spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from }] },
  };
}

/** What service-mirror reads: Services to mirror, global and exported ones, half of them with an order of clusters; and drains. */
export const mirrorSlots: readonly Slot[] = [
  ...remotes.flatMap((remote) =>
    many(30, (index) => (nth, version) => {
      const place = { cluster: remote, inside: `team-${nth}`, name: `web-${nth}` };
      const labels = labelsOf(selectors.mirror);
      return [namespace(remote, place.inside), ...withSlice(place, { labels, index, version })];
    }),
  ),
  ...many(
    15,
    (index) => (nth, version) =>
      everywhere.flatMap((cluster) => {
        const place = { cluster, inside: `team-${nth}`, name: `all-${nth}` };
        const labels = labelsOf(selectors.global);
        const own = turn(version, cluster);
        return [
          namespace(cluster, place.inside),
          ...withSlice(place, { labels, index, version: own, ordered: index % 2 }),
        ];
      }),
  ),
  ...many(
    15,
    (index) => (nth, version) =>
      everywhere.flatMap((cluster) => {
        const place = { cluster, inside: NAMESPACE, name: `exported-${nth}` };
        const own = turn(version, cluster);
        return [...withSlice(place, { labels: {}, index, version: own, ordered: index % 2 }), exportOf(place)];
      }),
  ),
  (nth, version) => [drain({ [names[version % REMOTES]!]: `because of ${nth}` })],
];

type Where = { readonly cluster: number; readonly inside: string; readonly name: string };
type What = {
  readonly labels: Readonly<Record<string, string>>;
  readonly index: number;
  readonly version: number;
  readonly ordered?: number;
};

/** Each change of a Service is one of a single cluster, in turn. */
const turn = (version: number, cluster: number): number => Math.floor((version + cluster) / everywhere.length);

const labelsOf = (selector: string): Record<string, string> => {
  const [key = '', value = ''] = selector.split('=');
  return { [key]: value };
};

const inNamespace = (group: string, { inside }: Where, plural: string): string =>
  `${group}/namespaces/${inside}/${plural}`;

function withSlice(where: Where, { labels, index, version, ordered = 0 }: What): readonly Placed[] {
  const { cluster, inside, name } = where;
  const annotations = { 'semaphore.uw.io/cluster-order': `${names[1]}; *` };
  const object = service({ namespace: inside, name, labels, ...(ordered === 1 && { annotations }) });
  const endpoints = [0, 1, 2].map((i) => `12.${cluster}.${index}.${((version + i) % 250) + 1}`);
  const slice = endpointSlice({ namespace: inside, name: `${name}-x1`, service: name, labels, endpoints });
  return [
    { cluster, collection: inNamespace('/api/v1', where, 'services'), object },
    { cluster, collection: inNamespace('/apis/discovery.k8s.io/v1', where, 'endpointslices'), object: slice },
  ];
}

function exportOf(where: Where): Placed {
  const { cluster, inside, name } = where;
  const metadata = { namespace: inside, name };
  const object = { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata, spec: {} };
  return { cluster, collection: inNamespace('/apis/multicluster.x-k8s.io/v1beta1', where, 'serviceexports'), object };
}

function drain(data: Readonly<Record<string, string>>): Placed {
  const metadata = { namespace: MIRRORS, name: 'semaphore-drains' };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  return { cluster: 0, collection: `/api/v1/namespaces/${MIRRORS}/configmaps`, object };
}

/** What wireguard reads: Nodes, which change endpoint and key in turn. */
export const wireguardSlots: readonly Slot[] = remotes.flatMap((remote) =>
  many(50, (index) => (nth, version) => {
    const publicKey = createHash('sha256')
      .update(`${nth} ${version >> 1}`)
      .digest('base64');
    const ip = `198.${17 + remote}.${index}.${((version + 1) >> 1) % 250}`;
    const object = node({
      name: `node-${nth}`,
      annotations: announcement({ publicKey, endpoint: `${ip}:51820` }),
      podCIDRs: [`11.${remote - 1}.${index}.0/24`],
      internalIPs: [ip],
    });
    return [{ cluster: remote, collection: '/api/v1/nodes', object }];
  }),
);
