import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LabelSelector, NetworkPolicyPort } from '@kube-semaphore/kube-objects';
import { calicoSink } from '../sinks/calico-sink.ts';
import { type Companion, writtenCompanion } from './companion.ts';
import { type CompanionsInput, desiredCompanions, type RemoteView } from './companions.ts';
import { crossClusterRules, selectsPod } from '../policies/cross-cluster-rules.ts';
import type { Labels } from '../policies/selector.ts';

const K = 'cluster.clusterset.k8s.io';
const labels = (matchLabels: Labels): LabelSelector => ({ matchLabels, matchExpressions: [] });
const peer = (cluster: string, app?: string) => ({
  namespaceSelector: labels({ [K]: cluster }),
  podSelector: labels(app === undefined ? {} : { app }),
  ipBlock: { cidr: '', except: [] },
});
const tcp = (port: number | string): NetworkPolicyPort => ({ protocol: 'TCP', port, endPort: 0 });

type RemotePod = { readonly app: string; readonly ip: string; readonly http?: number };

const remote = (cluster: string, pods: readonly RemotePod[]): RemoteView => ({
  cluster,
  known: true,
  podsOf: ({ peers }) =>
    pods
      .filter(({ app }) => peers.some((each) => selectsPod(each, { [K]: cluster }, { app })))
      .map(({ ip, http }) => ({
        cidrs: [`${ip}/32`],
        namedPorts: http === undefined ? [] : [{ name: 'http', protocol: 'TCP', port: http }],
      })),
});

const unknown = (cluster: string, allowed = ''): RemoteView => ({
  cluster,
  known: false,
  isAllowed: (cidr) => cidr.startsWith(allowed),
});

const SOURCE = { namespace: 'alpha', name: 'db', uid: 'u1', generation: 3, podSelector: labels({ app: 'db' }) };

/** A rule of either direction. */
type Rule = { readonly ports: readonly NetworkPolicyPort[]; readonly peers: readonly ReturnType<typeof peer>[] };

type Given = {
  readonly policy: { readonly ingress?: readonly Rule[]; readonly egress?: readonly Rule[] };
  readonly views: readonly RemoteView[];
  readonly observed?: readonly Companion[];
} & Partial<Pick<CompanionsInput, 'isTaken' | 'maxAddressesPerPolicy' | 'maxAddressesPerSource' | 'maxRules'>>;

function desired({ policy, views, observed = [], ...limits }: Given) {
  const rules = crossClusterRules(
    {
      podSelector: SOURCE.podSelector,
      policyTypes: ['Ingress', 'Egress'],
      ingress: (policy.ingress ?? []).map(({ ports, peers }) => ({ ports, from: peers })),
      egress: (policy.egress ?? []).map(({ ports, peers }) => ({ ports, to: peers })),
    },
    K,
  );
  return desiredCompanions({
    source: SOURCE,
    remotes: views.map((view) => ({ view, rules })),
    observed: observed.map(withShard),
    isTaken: () => false,
    maxAddressesPerPolicy: 500,
    maxAddressesPerSource: 5000,
    ...limits,
  });
}

const withShard = (companion: Companion): CompanionsInput['observed'][number] => ({
  ...companion,
  shard: Number(/-s(\d+)$/.exec(companion.name)?.[1] ?? 0),
});

/** What each companion opens: `remote direction ports: addresses`. */
const opened = (companions: readonly Companion[]): string[] =>
  companions.flatMap(({ remote: cluster, direction, rules }) =>
    rules.map(
      ({ ports, cidrs }) =>
        `${cluster} ${direction} ${ports.map(({ port }) => port).join('+') || 'all'}: ${cidrs.join(' ')}`,
    ),
  );

/** How many rules each policy of Calico has. */
const calicoRules = (companions: readonly Companion[]): readonly number[] => {
  const sink = calicoSink('crd.projectcalico.org/v1');
  const policies = companions.map((each) => sink.partsOf(SOURCE, each).at(-1)!.to.spec);
  return policies.map((spec) => (spec as { readonly ingress: readonly object[] }).ingress.length);
};

const WEB: RemotePod = { app: 'web', ip: '10.2.0.20' };
const OTHER: RemotePod = { app: 'other', ip: '10.2.0.21' };
const WEB_POLICY = { ingress: [{ ports: [tcp(5432)], peers: [peer('c2', 'web')] }] };

describe('desiredCompanions', () => {
  it('opens the ports of a rule to the addresses that its peers select', () => {
    const { companions } = desired({ policy: WEB_POLICY, views: [remote('c2', [WEB, OTHER])] });
    expect(opened(companions)).toEqual(['c2 ingress 5432: 10.2.0.20/32']);
    expect(writtenCompanion(SOURCE, companions[0]!)).toMatchObject({
      metadata: {
        namespace: 'alpha',
        name: expect.stringMatching(/^db-c2-ingress-[0-9a-f]{20}$/) as string,
        labels: { 'policy.semaphore.uw.io/managed-by': 'semaphore-policy', 'policy.semaphore.uw.io/cluster': 'c2' },
        annotations: { 'policy.semaphore.uw.io/source': 'db', 'policy.semaphore.uw.io/source-generation': '3' },
        ownerReferences: [{ kind: 'NetworkPolicy', name: 'db', uid: 'u1' }],
      },
      spec: {
        podSelector: { matchLabels: { app: 'db' } },
        policyTypes: ['Ingress'],
        ingress: [{ ports: [{ protocol: 'TCP', port: 5432 }], from: [{ ipBlock: { cidr: '10.2.0.20/32' } }] }],
      },
    });
  });

  it('has no more rules in a policy than the sink allows', () => {
    const pods = Array.from({ length: 1000 }, (_, i) => ({ app: `a${i}`, ip: `10.2.${i >> 8}.${i & 255}` }));
    const ports = ['TCP', 'UDP', 'SCTP'].map((protocol) => ({ ...tcp(53), protocol }));
    const rulesFor = (some: readonly RemotePod[]) => ({
      policy: { ingress: some.map(({ app }) => ({ ports, peers: [peer('c2', app)] })) },
      views: [remote('c2', pods)],
      maxRules: calicoSink('crd.projectcalico.org/v1').maxRules,
    });
    expect(calicoRules(desired(rulesFor(pods.slice(0, 341))).companions)).toEqual([1023]);
    const rules = calicoRules(desired({ ...rulesFor(pods), maxAddressesPerPolicy: 1000 }).companions);
    expect(rules).toEqual([1023, 1023, 954]);
  });

  it('writes no rule without an address, and no companion without a rule', () => {
    expect(desired({ policy: WEB_POLICY, views: [remote('c2', [OTHER])] }).companions).toEqual([]);
  });

  it('makes one companion for each remote and direction', () => {
    const rule = { ports: [], peers: [peer('c2'), peer('c3')] };
    const views = [remote('c2', [WEB]), remote('c3', [{ app: 'web', ip: '10.3.0.1' }])];
    const { companions } = desired({ policy: { ingress: [rule], egress: [rule] }, views });
    expect(opened(companions)).toEqual([
      'c2 ingress all: 10.2.0.20/32',
      'c2 egress all: 10.2.0.20/32',
      'c3 ingress all: 10.3.0.1/32',
      'c3 egress all: 10.3.0.1/32',
    ]);
  });

  it('takes another name, and says so, where an object that is not ours has the name', () => {
    const given = { policy: WEB_POLICY, views: [remote('c2', [WEB])] };
    const [first] = desired(given).companions;
    const { companions, diagnostics } = desired({ ...given, isTaken: (name) => name === first!.name });
    expect(companions[0]!.name).not.toBe(first!.name);
    expect(diagnostics).toMatchObject([
      { reason: 'name-taken', detail: expect.stringContaining(first!.name) as string },
    ]);
  });

  describe('with a named port of egress', () => {
    const policy = { egress: [{ ports: [tcp('http'), tcp(443)], peers: [peer('c2')] }] };
    const pods = [
      { ...WEB, http: 8080 },
      { ...OTHER, http: 9090 },
      { app: 'db', ip: '10.2.0.22' },
    ];

    it('opens to each address the number that its Pod gives the name', () => {
      expect(opened(desired({ policy, views: [remote('c2', pods)] }).companions)).toEqual([
        'c2 egress 443: 10.2.0.22/32',
        'c2 egress 8080+443: 10.2.0.20/32',
        'c2 egress 9090+443: 10.2.0.21/32',
      ]);
    });

    it('skips a Pod that has no such port, and says so if no Pod has the name', () => {
      const onlyNamed = { egress: [{ ports: [tcp('http')], peers: [peer('c2')] }] };
      expect(opened(desired({ policy: onlyNamed, views: [remote('c2', pods)] }).companions)).toHaveLength(2);
      const { companions, diagnostics } = desired({ policy: onlyNamed, views: [remote('c2', [pods[2]!])] });
      expect(companions).toEqual([]);
      expect(diagnostics).toMatchObject([{ reason: 'no-such-port', remote: 'c2' }]);
      expect(desired({ policy: onlyNamed, views: [remote('c2', [])] })).toEqual({ companions: [], diagnostics: [] });
    });

    it('keeps the numbers while the remote is unknown, until the ports of the rule change', () => {
      const { companions: observed } = desired({ policy, views: [remote('c2', pods)] });
      const now = (ports: readonly NetworkPolicyPort[]) =>
        opened(
          desired({ policy: { egress: [{ ports, peers: [peer('c2')] }] }, views: [unknown('c2')], observed })
            .companions,
        );
      expect(now([tcp('http'), tcp(443)])).toEqual(opened(observed));
      expect(now([tcp('metrics'), tcp(443)])).toEqual(['c2 egress 443: 10.2.0.20/32 10.2.0.21/32 10.2.0.22/32']);
      expect(now([tcp('metrics')])).toEqual([]);
    });

    it('takes no port of another protocol for it', () => {
      const udp = { egress: [{ ports: [{ ...tcp('http'), protocol: 'UDP' }], peers: [peer('c2')] }] };
      expect(desired({ policy: udp, views: [remote('c2', pods)] }).companions).toEqual([]);
    });

    it('copies a named port of ingress, which is one of the selected Pods', () => {
      const { companions } = desired({ policy: { ingress: policy.egress }, views: [remote('c2', [WEB])] });
      expect(opened(companions)).toEqual(['c2 ingress http+443: 10.2.0.20/32']);
    });
  });

  describe('while a remote is unknown', () => {
    const { companions: observed } = desired({ policy: WEB_POLICY, views: [remote('c2', [WEB])] });
    const now = (ingress: readonly Rule[], allowed?: string) =>
      opened(desired({ policy: { ingress }, views: [unknown('c2', allowed)], observed }).companions);

    it('keeps what was granted under the same peers', () => {
      expect(now(WEB_POLICY.ingress)).toEqual(['c2 ingress 5432: 10.2.0.20/32']);
    });

    it('lets other ports take effect at once', () => {
      expect(now([{ ports: [tcp(5433)], peers: [peer('c2', 'web')] }])).toEqual(['c2 ingress 5433: 10.2.0.20/32']);
    });

    it('takes away what other peers had, and grants new peers nothing', () => {
      expect(now([{ ports: [tcp(5432)], peers: [peer('c2', 'shop')] }])).toEqual([]);
    });

    it('takes away an address that is no longer allowed', () => {
      expect(now(WEB_POLICY.ingress, '10.9.')).toEqual([]);
    });
  });

  describe('while some addresses of a known remote are held', () => {
    const { companions: observed } = desired({
      policy: WEB_POLICY,
      views: [remote('c2', [WEB, { ...WEB, ip: '10.2.0.9' }])],
    });
    const now = (ingress: readonly Rule[], ...held: string[]) => {
      const view = { ...remote('c2', [WEB]), isHeld: (cidr: string) => held.includes(cidr) };
      return opened(desired({ policy: { ingress }, views: [view], observed }).companions);
    };

    it('keeps them under the same peers, beside those of its Pods', () => {
      expect(now(WEB_POLICY.ingress, '10.2.0.9/32')).toEqual(['c2 ingress 5432: 10.2.0.9/32 10.2.0.20/32']);
      expect(now(WEB_POLICY.ingress)).toEqual(['c2 ingress 5432: 10.2.0.20/32']);
    });

    it('grants them nothing that they did not have', () => {
      expect(now(WEB_POLICY.ingress, '10.2.0.8/32')).toEqual(['c2 ingress 5432: 10.2.0.20/32']);
      expect(now([{ ports: [], peers: [peer('c2', 'shop')] }], '10.2.0.9/32')).toEqual([]);
    });
  });

  describe('with many addresses', () => {
    const pods = (count: number): RemotePod[] =>
      Array.from({ length: count }, (_, i) => ({ app: 'web', ip: `10.2.${i >> 8}.${i & 255}` }));
    const desiredOf = (count: number, observed?: readonly Companion[], limits: Partial<Given> = {}) =>
      desired({ policy: WEB_POLICY, views: [remote('c2', pods(count))], ...(observed && { observed }), ...limits });

    it('divides them into shards, and rewrites one of them for one more Pod', () => {
      const limits = { maxAddressesPerPolicy: 10 };
      const { companions: before } = desiredOf(25, undefined, limits);
      const { companions: after } = desiredOf(26, before, limits);
      expect(before.map(({ rules }) => rules[0]!.cidrs.length)).toEqual([10, 10, 5]);
      const changed = after.filter((each, i) => JSON.stringify(each) !== JSON.stringify(before[i]));
      expect(changed.map(({ name }) => name.endsWith('-s2'))).toEqual([true]);
    });

    it('leaves each address in its shard when another goes', () => {
      const limits = { maxAddressesPerPolicy: 10 };
      const { companions: before } = desiredOf(25, undefined, limits);
      const views = [remote('c2', pods(25).slice(1))];
      const { companions: after } = desired({ policy: WEB_POLICY, views, observed: before, ...limits });
      expect(after.map(({ rules }) => rules[0]!.cidrs.length)).toEqual([9, 10, 5]);
    });

    it('adds no address beyond the limit of a source, and takes none away that is there', () => {
      const { companions: before } = desiredOf(20);
      const { companions, diagnostics } = desiredOf(30, before, { maxAddressesPerSource: 15 });
      expect(companions[0]!.rules[0]!.cidrs).toHaveLength(20);
      expect(diagnostics).toMatchObject([
        { reason: 'too-many-addresses', detail: expect.stringContaining('10 ') as string },
      ]);
      expect(desiredOf(30, [], { maxAddressesPerSource: 15 }).companions[0]!.rules[0]!.cidrs).toHaveLength(15);
    });
  });
});

/** A NetworkPolicy engine of few lines: whether a flow between a selected Pod and a peer is allowed by one policy. */
const isOpen = (companions: readonly Companion[], direction: string, ip: string, port: number): boolean =>
  companions.some(
    (companion) =>
      companion.direction === direction &&
      companion.rules.some(
        ({ ports, cidrs }) =>
          cidrs.includes(`${ip}/32`) &&
          (ports.length === 0 ||
            ports.some((each) => port >= Number(each.port) && port <= Number(each.endPort || each.port))),
      ),
  );

describe('any policy', () => {
  const app = fc.constantFrom('web', 'db', 'shop');
  const cluster = fc.constantFrom('c2', 'c3');
  const anyPeer = fc.record({ cluster, app: fc.option(app, { nil: undefined }) });
  const anyPort = fc.oneof(fc.constantFrom(80, 443), fc.constant('http'));
  const anyRule = fc.record({
    ports: fc.array(anyPort, { maxLength: 2 }),
    peers: fc.array(anyPeer, { minLength: 1, maxLength: 3 }),
  });
  const anyPods = fc.array(fc.record({ app, http: fc.constantFrom(80, 8080) }), { maxLength: 8 });
  const world = fc.record({
    ingress: fc.array(anyRule, { maxLength: 3 }),
    egress: fc.array(anyRule, { maxLength: 3 }),
    pods: fc.record({ c2: anyPods, c3: anyPods }),
  });
  const shardLimit = fc.integer({ min: 1, max: 4 });

  type World = typeof world extends fc.Arbitrary<infer T> ? T : never;
  const rulesIn = (rules: World['ingress']) =>
    rules.map(({ ports, peers }) => ({
      ports: ports.map(tcp),
      peers: peers.map((each) => peer(each.cluster, each.app)),
    }));
  const podsIn = ({ pods }: World) => {
    const of = (id: 'c2' | 'c3') =>
      pods[id].map((pod, i): Required<RemotePod> => ({ ...pod, ip: `10.${id[1]}.0.${i}` }));
    return { c2: of('c2'), c3: of('c3') };
  };
  const companionsIn = (each: World, rest: Partial<Given> = {}) =>
    desired({
      policy: { ingress: rulesIn(each.ingress), egress: rulesIn(each.egress) },
      views: [remote('c2', podsIn(each).c2), remote('c3', podsIn(each).c3)],
      ...rest,
    }).companions;

  it('opens by addresses exactly what it says by labels', () =>
    fc.assert(
      fc.property(world, shardLimit, (each, maxAddressesPerPolicy) => {
        const companions = companionsIn(each, { maxAddressesPerPolicy });
        for (const [id, pods] of Object.entries(podsIn(each)))
          for (const pod of pods)
            for (const port of [80, 443, 8080]) {
              const says = (rules: World['ingress'], http: number) =>
                rules.some(
                  ({ ports, peers }) =>
                    peers.some((one) => one.cluster === id && (one.app === undefined || one.app === pod.app)) &&
                    (ports.length === 0 || ports.some((one) => (one === 'http' ? http : one) === port)),
                );
              expect(isOpen(companions, 'egress', pod.ip, port)).toBe(says(each.egress, pod.http));
              // A name on ingress is resolved by the engine; here no subject has it.
              expect(isOpen(companions, 'ingress', pod.ip, port)).toBe(says(each.ingress, NaN));
            }
      }),
    ));

  it('never has a rule without peers, a shard over the limit, or a name twice', () =>
    fc.assert(
      fc.property(world, shardLimit, (each, maxAddressesPerPolicy) => {
        const companions = companionsIn(each, { maxAddressesPerPolicy });
        for (const companion of companions) {
          expect(companion.rules.length).toBeGreaterThan(0);
          for (const { cidrs } of companion.rules) expect(cidrs.length).toBeGreaterThan(0);
        }
        expect(new Set(companions.map(({ name }) => name)).size).toBe(companions.length);
      }),
    ));

  it('is at rest once it is written', () =>
    fc.assert(
      fc.property(world, world, shardLimit, (before, after, maxAddressesPerPolicy) => {
        const observed = companionsIn(before, { maxAddressesPerPolicy });
        const written = companionsIn(after, { maxAddressesPerPolicy, observed });
        expect(companionsIn(after, { maxAddressesPerPolicy, observed: written })).toEqual(written);
      }),
    ));

  it('opens nothing to an unknown remote that was not open before, and is not allowed now', () =>
    fc.assert(
      fc.property(world, world, (before, after) => {
        const observed = companionsIn(before);
        const now = companionsIn(after, { observed, views: [unknown('c2'), unknown('c3')] });
        const atBest = companionsIn({ ...after, pods: before.pods }, { observed });
        const flows = Object.values(podsIn(before))
          .flat()
          .flatMap(({ ip }) =>
            ['ingress', 'egress'].flatMap((direction) => [80, 443, 8080].map((port) => ({ ip, direction, port }))),
          );
        const openIn = (companions: readonly Companion[]) =>
          flows.filter(({ ip, direction, port }) => isOpen(companions, direction, ip, port));
        expect(openIn(atBest)).toEqual(expect.arrayContaining(openIn(now)));
      }),
    ));
});
