import { Codec, endpointSliceKind, serviceKind } from '@kube-semaphore/kube-objects';
import type { RemoteStatus } from '../../src/clusters/app-status.ts';
import { type Mesh, type MeshCluster, meshOf } from '../../src/ui/mesh.ts';
import { appPod, remoteStatus } from './reports.ts';

const READ_AT = '2026-01-01T03:00:00.000Z';

type Peer = NonNullable<RemoteStatus['peers']>[number];

/** Four clusters with two nodes each. c4 is not reached, a tunnel of c3 is old, and one of c2 has no handshake yet. */
export function exampleMesh(): Mesh {
  const names = ['c1', 'c2', 'c3', 'c4'];
  return meshOf(
    names.map((name) => clusterOf(name, names)),
    READ_AT,
  );
}

const nodesOf = (cluster: string): readonly string[] => ['a', 'b'].map((letter) => `${cluster}-${letter}`);

function clusterOf(name: string, all: readonly string[]): MeshCluster {
  const others = all.filter((other) => other !== name);
  const remotes = (more: (other: string) => Partial<RemoteStatus>): RemoteStatus[] =>
    others.map((other) => remoteStatus({ name: other, ...(other === 'c4' ? away : {}), ...more(other) }));
  const config = { name };
  const skipped = (other: string): RemoteStatus['skipped'] =>
    name === 'c1' && other === 'c3' ? [{ kind: 'problem', reason: 'name-too-long', count: 2 }] : [];
  return {
    report: {
      cluster: name,
      pods: [
        appPod({ app: 'semaphore-policy', config, remotes: remotes(() => ({ objects: { pods: 128, sets: 14 } })) }),
        appPod({
          app: 'semaphore-service-mirror',
          config,
          remotes: remotes((other) => ({ objects: { services: 9, mirrors: 9 }, skipped: skipped(other) })),
        }),
        ...nodesOf(name).map((node) =>
          appPod({
            app: 'semaphore-wireguard',
            name: `agent-${node}`,
            node,
            config,
            remotes: remotes((other) => ({
              objects: { nodes: 2 },
              up: true,
              synced: true,
              lastError: null,
              peers: nodesOf(other).map((peer) => peerOf(node, peer)),
            })),
          }),
        ),
      ],
    },
    services: others.map((other) =>
      new Codec(serviceKind).objectFromJson({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: {
          namespace: 'sys-semaphore',
          name: other,
          annotations: { 'mirror-svc-source': `${other}/shop/web` },
        },
      }),
    ),
    imports: [],
    slices: others.map((other) =>
      new Codec(endpointSliceKind).objectFromJson({
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          namespace: 'sys-semaphore',
          name: other,
          labels: { 'kubernetes.io/service-name': other, 'mirrored-svc': 'true' },
        },
        addressType: 'IPv4',
        endpoints: other === 'c4' ? [] : [{ addresses: ['10.4.0.1'] }, { addresses: ['10.4.0.2'] }],
      }),
    ),
    failures: [],
  };
}

const away = {
  up: false,
  synced: false,
  objects: null,
  lastError: { time: READ_AT, message: 'connect ETIMEDOUT 198.51.100.4:6443' },
} satisfies Partial<RemoteStatus>;

function peerOf(from: string, to: string): Peer {
  const ends = [from, to].toSorted().join(' ');
  const age = ends === 'c1-a c3-b' ? 412 : ends === 'c2-b c3-a' ? null : 37;
  const state = age === null ? 'never' : age > 180 ? 'stale' : 'up';
  return { node: to, publicKey: to, state, endpoint: '192.0.2.1:51820', handshakeAgeSeconds: age, allowedIps: [] };
}

/** A full mesh of clusters with a node each, of which every tenth misses a tunnel. */
export function largeMesh(count: number): Mesh {
  const names = Array.from({ length: count }, (_, i) => `cluster-${i}`);
  const both = names.flatMap((a, i) => names.slice(i + 1).map((b) => [a, b] as const));
  const up = { state: 'up', objects: { pods: 1_000, sets: 40 }, since: READ_AT, error: null } as const;
  return {
    readAt: READ_AT,
    reports: names.map((cluster) => ({
      cluster,
      pods: [appPod({ app: 'semaphore-policy', config: { name: cluster } })],
    })),
    problems: names.map((name) => `${name} is stale in global Services: in cluster-0 (service-mirror)`),
    pairs: both.flatMap((ends) =>
      [ends, ends.toReversed()].map(([from = '', to = '']) => ({
        from,
        to,
        apps: { 'semaphore-policy': up, 'semaphore-service-mirror': up, 'semaphore-wireguard': up },
        tunnels: { up: 1, all: 1 },
        rotation: null,
        lastChange: READ_AT,
      })),
    ),
    graph: {
      clusters: names.map((name) => ({ name, nodes: ['n1'] })),
      tunnels: both.map(([a, b], i) => ({
        ends: [
          { cluster: a, node: 'n1' },
          { cluster: b, node: 'n1' },
        ],
        state: i % 10 === 0 ? 'never' : 'up',
        handshakeAgeSeconds: i % 10 === 0 ? null : 60,
      })),
      services: [],
    },
    services: names.flatMap((cluster) =>
      names.slice(0, 20).map((source, i) => ({
        cluster,
        kind: 'mirror',
        service: `shop/web-${i}`,
        endpoints: [{ cluster: source, ready: 2, standby: 0 }],
      })),
    ),
    skipped: [],
  };
}
