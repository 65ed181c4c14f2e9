import fc from 'fast-check';
import { K } from './companions.ts';

const NAME = 'kubernetes.io/metadata.name';

type Labels = Readonly<Record<string, string>>;

/** A Pod with its addresses and its named ports. */
export type WorldPod = {
  readonly namespace: string;
  readonly labels: Labels;
  readonly ips: readonly [v4: string, v6: string];
  readonly ports: readonly { readonly name: string; readonly containerPort: number; readonly protocol: string }[];
};

/** A cluster of the world: labels by namespace, and Pods. */
export type WorldCluster = {
  readonly name: string;
  readonly namespaces: Readonly<Record<string, Labels>>;
  readonly pods: readonly WorldPod[];
};

const one = <const T>(...values: readonly T[]) => fc.constantFrom(...values);
const some = <const T>(...values: readonly T[]) => fc.subarray([...values], { minLength: 1 });

const requirement = (key: string, values: readonly string[], operators: readonly string[]) =>
  fc
    .record({ operator: one(...operators), values: some(...values) })
    .map(({ operator, values: chosen }) => ({ key, operator, ...(operator.endsWith('In') && { values: chosen }) }));

const ALL = ['In', 'NotIn', 'Exists', 'DoesNotExist'];
/** Without NotIn, which cyclonus gets wrong, for keys that some objects lack. */
const OPTIONAL = ['In', 'Exists', 'DoesNotExist'];
/** No cluster of the world is called `c9`. */
const CLUSTERS = ['c1', 'c2', 'c3', 'c9'];

const selector = (
  labels: Readonly<Record<string, readonly string[]>>,
  expressions: readonly fc.Arbitrary<object>[],
  most: number,
) =>
  fc
    .record({
      matchLabels: fc.record(Object.fromEntries(Object.entries(labels).map(([key, values]) => [key, one(...values)])), {
        requiredKeys: [],
      }),
      matchExpressions: fc.array(fc.oneof(...expressions), { maxLength: most }),
    })
    .map((both) => Object.fromEntries(Object.entries(both).filter(([, part]) => Object.keys(part).length > 0)));

const onCluster = requirement(K, CLUSTERS, ALL);
const onNamespace = [requirement(NAME, ['beta', 'gamma'], ALL), requirement('team', ['a', 'b'], OPTIONAL)];

const namespaceSelector = fc.oneof(
  // Most peers name a cluster, or few policies would have a companion.
  {
    weight: 3,
    arbitrary: fc
      .tuple(onCluster, fc.array(fc.oneof(onCluster, ...onNamespace), { maxLength: 1 }))
      .map(([first, more]) => ({ matchExpressions: [first, ...more] })),
  },
  { weight: 2, arbitrary: selector({ [K]: CLUSTERS, [NAME]: ['beta', 'gamma'], team: ['a', 'b'] }, onNamespace, 1) },
  { weight: 1, arbitrary: fc.constant({}) },
);

const podSelector = selector(
  { app: ['web', 'db', 'other'] },
  [
    requirement('app', ['web', 'db', 'other'], ALL),
    requirement('tier', ['front', 'back'], OPTIONAL),
    requirement(K, CLUSTERS, OPTIONAL),
  ],
  1,
);

const selectors = fc.oneof(
  { weight: 6, arbitrary: fc.record({ namespaceSelector, podSelector }, { requiredKeys: ['namespaceSelector'] }) },
  { weight: 1, arbitrary: fc.record({ podSelector }) },
);
const blocks = one({ ipBlock: { cidr: '10.2.0.0/30' } }, { ipBlock: { cidr: '10.0.0.0/8', except: ['10.2.0.0/16'] } });

const numbers = [
  { protocol: 'TCP', port: 5432 },
  { protocol: 'TCP', port: 8080 },
  { protocol: 'UDP', port: 53 },
  { protocol: 'UDP' },
  { protocol: 'TCP', port: 8000, endPort: 9000 },
] as const;
const named = [
  { protocol: 'TCP', port: 'http' },
  { protocol: 'TCP', port: 'sql' },
  { protocol: 'UDP', port: 'http' },
] as const;

const rule = (peers: 'from' | 'to', ports: readonly object[]): fc.Arbitrary<object> =>
  fc.record(
    {
      ports: fc.array(one(...ports), { maxLength: 2 }),
      [peers]: fc.array(fc.oneof({ weight: 7, arbitrary: selectors }, { weight: 1, arbitrary: blocks }), {
        maxLength: 3,
      }),
    },
    { requiredKeys: [] },
  );

/** Often, the peers of the first rule are those of another one, too. */
const rules = (each: fc.Arbitrary<object>) =>
  fc
    .tuple(
      fc.array(each, { minLength: 1, maxLength: 3 }),
      fc.option(fc.array(one<object>(...numbers), { maxLength: 1 })),
    )
    .map(([all, ports]) => (ports === null ? all : [...all, { ...all[0], ports }]));
const ingress = rules(rule('from', [...numbers, ...named]));
/** An address has no names of ports, so a named one says nothing of blocks, or of peers that aren't there. */
const egress = rules(
  fc.oneof(
    rule('to', numbers),
    fc.record({
      ports: fc.array(one<object>(...numbers, ...named, ...named), { minLength: 1, maxLength: 2 }),
      to: fc.array(selectors, { minLength: 1, maxLength: 3 }),
    }),
  ),
);

const pod = (cluster: number, i: number, namespace: fc.Arbitrary<string>): fc.Arbitrary<WorldPod> =>
  fc
    .record({
      namespace,
      labels: fc.record(
        { app: one('web', 'db', 'other'), tier: one('front', 'back'), [K]: one(...CLUSTERS) },
        { requiredKeys: ['app'] },
      ),
      http: fc.option(one(8080, 9090)),
      sql: fc.boolean(),
    })
    .map(({ labels, http, sql, ...rest }) => ({
      ...rest,
      labels: labels as Labels,
      ips: [`10.${cluster}.0.${i + 1}`, `fd0${cluster}::${i + 1}`],
      ports: [
        ...(http === null ? [] : [{ name: 'http', containerPort: http, protocol: 'TCP' }]),
        ...(sql ? [{ name: 'sql', containerPort: 5432, protocol: 'TCP' }] : []),
      ],
    }));

const team = fc.record({ team: one('a', 'b') }, { requiredKeys: [] }) as fc.Arbitrary<Labels>;

/** What a namespace of a remote says of its cluster is not believed. */
const remote = (number: number): fc.Arbitrary<WorldCluster> =>
  fc.record({
    name: fc.constant(`c${number}`),
    namespaces: fc.record({ beta: team, gamma: team.map((labels) => ({ ...labels, [K]: 'c1' })) }),
    pods: fc.tuple(...Array.from({ length: 4 }, (_, i) => pod(number, i, one('beta', 'gamma')))),
  });

/** Namespaces with the label of their cluster, as an administrator sets it, or without. */
const local: fc.Arbitrary<WorldCluster> = fc.boolean().chain((isLabelled) => {
  const labels = team.map((others) => (isLabelled ? { ...others, [K]: 'c1' } : others));
  return fc.record({
    name: fc.constant('c1'),
    namespaces: fc.record({ home: labels, beta: labels }),
    pods: fc.tuple(...['home', 'home', 'home', 'beta'].map((namespace, i) => pod(1, i, fc.constant(namespace)))),
  });
});

/** A random local cluster `c1`, whose namespace `home` has policies, and two remotes. */
export const world = fc.record({ local, remotes: fc.tuple(remote(2), remote(3)) });

export type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** The spec of a random NetworkPolicy. No key with `NotIn` is absent, and no value is empty: cyclonus gets these wrong. */
export const policySpec = fc.record({
  podSelector,
  policyTypes: one(['Ingress'], ['Egress'], ['Ingress', 'Egress']),
  ingress,
  egress,
});
