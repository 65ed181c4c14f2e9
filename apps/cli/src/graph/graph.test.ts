import { Codec, serviceImportKind, serviceKind } from '@kube-semaphore/kube-objects';
import { describe, expect, it } from 'vitest';
import { appPod, remoteStatus } from '../../test/support/reports.ts';
import { graphOf, type ReadCluster } from './graph.ts';
import { labelled } from './labels.ts';
import { svgOf } from './svg.ts';
import { dotOf, mermaidOf } from './text-formats.ts';

const service = (name: string, annotations: object) =>
  new Codec(serviceKind).objectFromJson({ apiVersion: 'v1', kind: 'Service', metadata: { name, annotations } });

const serviceImport = new Codec(serviceImportKind).objectFromJson({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceImport',
  metadata: { namespace: 'shop', name: 'db' },
  status: { clusters: [{ cluster: 'c2' }, { cluster: 'c1' }] },
});

const peer = (node: string | null, handshakeAgeSeconds: number | null) => ({
  node,
  publicKey: 'key',
  state: handshakeAgeSeconds === null ? ('never' as const) : ('up' as const),
  endpoint: null,
  handshakeAgeSeconds,
  allowedIps: [],
});

type Peer = ReturnType<typeof peer>;

const cluster = (name: string, node: string, remote: string, peers: Peer[]): ReadCluster => ({
  report: {
    cluster: `context-${name}`,
    pods: [
      appPod({ app: 'semaphore-wireguard', node, config: { name }, remotes: [remoteStatus({ name: remote, peers })] }),
    ],
  },
  services: [
    service('a', { 'mirror-svc-source': `${remote.slice(0, 2)}/shop/web` }),
    service('b', { 'mirror-svc-source': 'global/shop/db', 'global-svc-clusters': 'c2,c1' }),
  ],
  imports: name === 'c1' ? [serviceImport] : [],
});

const mesh = (c1: string, c2: string, node: string): readonly ReadCluster[] => [
  cluster(c2, 'm1', c1, [peer(node, 9)]),
  cluster(c1, node, c2, [peer('m1', 100), peer(null, null)]),
];
const graph = graphOf(mesh('c1', 'c2', 'n1'));

describe('a graph', () => {
  it('has clusters, nodes, a tunnel once by its worse side, and Services', () => {
    const place = (name: string, node: string) => ({ cluster: name, node });
    expect(graph).toEqual({
      clusters: [
        { name: 'c1', nodes: ['n1'] },
        { name: 'c2', nodes: ['key', 'm1'] },
      ],
      tunnels: [
        { ends: [place('c1', 'n1'), place('c2', 'key')], state: 'never', handshakeAgeSeconds: null },
        { ends: [place('c1', 'n1'), place('c2', 'm1')], state: 'up', handshakeAgeSeconds: 100 },
      ],
      services: [
        { cluster: 'c1', kind: 'global', service: 'shop/db', sources: ['c1', 'c2'] },
        { cluster: 'c1', kind: 'import', service: 'shop/db', sources: ['c1', 'c2'] },
        { cluster: 'c1', kind: 'mirror', service: 'shop/web', sources: ['c2'] },
        { cluster: 'c2', kind: 'global', service: 'shop/db', sources: ['c1', 'c2'] },
        { cluster: 'c2', kind: 'mirror', service: 'shop/web', sources: ['c1'] },
      ],
    });
  });

  it('does not depend on the order of clusters', () => {
    expect(graphOf(mesh('c1', 'c2', 'n1').toReversed())).toEqual(graph);
  });

  it('is text for Mermaid', () => {
    expect(mermaidOf(labelled(graph))).toBe(`flowchart LR
  subgraph c0["c1"]
    c0n0["n1"]
    c0s0(["shop/db from c1, c2"])
    c0s1(["import shop/db from c1, c2"])
    c0s2(["shop/web from c2"])
  end
  subgraph c1["c2"]
    c1n0["key"]
    c1n1["m1"]
    c1s0(["shop/db from c1, c2"])
    c1s1(["shop/web from c1"])
  end
  c0n0 ---|"no handshake"| c1n0
  c0n0 ---|"up, handshake 100 s ago"| c1n1
  linkStyle 0 stroke:#c62828
  linkStyle 1 stroke:#2e7d32
`);
  });

  it.each([
    { format: 'SVG', of: svgOf, texts: />[^<>]*</g, without: '><' },
    { format: 'Mermaid', of: mermaidOf, texts: /"[^"\n]*"/g, without: '""' },
    { format: 'DOT', of: dotOf, texts: /"(?:[^"\\\n]|\\.)*"/g, without: '""' },
  ])('has its texts escaped, whatever foreign names are: $format', ({ of, texts, without }) => {
    const hostile = '"]<script>&\'\\ \n\u202e#quot;--> }';
    const plain = of(labelled(graphOf(mesh('c1x', 'c2x', 'n1x'))));
    const safe = of(labelled(graphOf(mesh(`c1${hostile}`, `c2${hostile}`, `n1${hostile}`))));
    expect(safe.replaceAll(texts, without)).toBe(plain.replaceAll(texts, without));
    expect(safe).not.toContain('\u202e');
  });
});
