import { execFileSync } from 'node:child_process';
import { parseConfigFile } from '@kube-semaphore/multicluster';
import { restartReasons } from '@kube-semaphore/informers';
import {
  crossClusterRules,
  labelDomains,
  remoteNamespaceLabels,
  selects,
  selectsPod,
} from '@kube-semaphore/network-policies';
import { docBlocks, docPage } from '@kube-semaphore/testkit';
import { Codec, networkPolicyKind } from '@kube-semaphore/kube-objects';
import { parseYaml } from '@kube-semaphore/text';
import { describe, expect, it } from 'vitest';
import { configFileSchema } from '../src/config/file.ts';
import { metrics } from '../src/metrics.ts';
import { options } from '../src/config/options.ts';

/** Its own page, and the page of all apps, which names no option that policy lacks. */
const page = docPage('policy.md') + docPage('network-policies.md') + docPage('concepts.md');
const prefix = 'semaphore_policy_';
const names = Object.values(metrics).map(({ name }) => name.slice(prefix.length));

const mentioned = (pattern: RegExp): readonly string[] => [
  ...new Set(Array.from(page.matchAll(pattern), ([, name = '']) => name)),
];

describe('docs/policy.md and docs/concepts.md', () => {
  it('name only metrics that exist', () => {
    expect(mentioned(/`semaphore_policy_([a-z_]+)/g)).not.toEqual([]);
    for (const name of [
      ...mentioned(/`semaphore_policy_([a-z_]+)/g),
      ...mentioned(/`((?:remote|held|skipped)_[a-z_]+)/g),
    ])
      expect(names).toContain(name);
  });

  it('name only restart reasons that exist', () => {
    const reasons = mentioned(/\{reason="([a-z_]+)"\}/g);
    expect(reasons).not.toEqual([]);
    for (const reason of reasons) expect([...restartReasons, 'no-pod-matches']).toContain(reason);
  });

  it('name only flags that exist', () => {
    const flags = Object.values(options).map((row) => ('flag' in row ? row.flag : undefined));
    const given = mentioned(/(?<=[` ])-([a-z]+(?:-[a-z]+)+)\b/g);
    expect(given.length).toBeGreaterThan(10);
    for (const flag of given) expect(flags).toContain(flag);
  });

  it('show a valid config file', () => {
    const [file = ''] = docBlocks('policy.md', 'Several remotes', 'yaml');
    expect(parseConfigFile(file, configFileSchema, { unknownKeys: 'error' })).toMatchObject({ ok: true });
  });
});

describe('docs/network-policies.md', () => {
  const K = 'cluster.clusterset.k8s.io';
  const codec = new Codec(networkPolicyKind);
  const specOf = (spec: object) =>
    codec.objectFromJson({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: {},
      // An API server sets the types.
      spec: { policyTypes: ['Ingress'], ...spec },
    } as never).spec;
  const documented = (heading: string, block = 0) => {
    const manifest = parseYaml(docBlocks('network-policies.md', heading, 'yaml')[block]!);
    if (!manifest.ok) throw new Error(manifest.problem.message);
    return specOf((manifest.value as { spec: object }).spec);
  };
  /** The clusters whose Pod in this namespace a policy in `us` selects. `us-`: in a namespace without the label. */
  const selected = (spec: ReturnType<typeof specOf>, us: string, namespace: string, app: string) => {
    const remote = crossClusterRules(spec, K).flatMap(({ peers }) => peers);
    const local = [...spec.ingress.flatMap(({ from }) => from), ...spec.egress.flatMap(({ to }) => to)];
    const own = { 'kubernetes.io/metadata.name': namespace };
    const isLocal = (labels: Readonly<Record<string, string>>) =>
      local.some(
        ({ namespaceSelector, podSelector }) =>
          namespaceSelector !== undefined && selects(namespaceSelector, labels) && selects(podSelector, { app }),
      );
    const others = ['c1', 'c2', 'c3'].filter((id) => id !== us);
    return [
      ...(isLocal({ ...own, [K]: us }) ? [us] : []),
      ...(isLocal(own) ? [`${us}-`] : []),
      ...others.filter((id) =>
        remote.some((peer) =>
          selectsPod(peer, remoteNamespaceLabels(namespace, {}, { key: K, id, labels: {} }), { app }),
        ),
      ),
    ];
  };

  it.each([
    { heading: 'NetworkPolicies that name another cluster', us: 'c1', pod: ['beta', 'web'], want: ['c2'] },
    { heading: 'First, nothing', us: 'c1', pod: ['beta', 'web'], want: [] },
    { heading: 'This cluster', us: 'c1', pod: ['beta', 'web'], want: ['c1', 'c1-'] },
    { heading: 'One other cluster', us: 'c2', pod: ['alpha', 'db'], want: ['c1'] },
    { heading: 'All other clusters', us: 'c1', pod: ['beta', 'web'], want: ['c1-', 'c2', 'c3'] },
    { heading: 'All clusters', us: 'c1', pod: ['beta', 'web'], want: ['c1', 'c1-', 'c2', 'c3'] },
    { heading: 'All clusters', block: 1, us: 'c2', pod: ['alpha', 'db'], want: ['c2', 'c1', 'c3'] },
  ] as const)('"$heading" selects what it says', ({ heading, us, pod: [namespace, app], want, ...rest }) => {
    expect(selected(documented(heading, 'block' in rest ? rest.block : 0), us, namespace, app)).toEqual(want);
  });

  const [, table = ''] = docPage('network-policies.md').split('| --- | --- | --- |\n');
  const cases = Array.from(table.split('\n\n')[0]!.matchAll(/^\| (.+) \| (.+) \| (.+) \|$/gm), (row) => row.slice(1));

  const named = (operator: string, ...values: string[]) => ({
    namespaceSelector: { matchExpressions: [{ key: K, operator, values }] },
  });
  /** For each row of the table, in its order: a peer, and what it selects in c1. */
  const peers: readonly (readonly [peer: object, remote: readonly string[], local: readonly string[]])[] = [
    [{ namespaceSelector: {} }, [], ['c1', 'c1-']],
    [{ namespaceSelector: { matchLabels: { [K]: 'c2' } } }, ['c2'], []],
    [named('In', 'c1', 'c2'), ['c2'], ['c1']],
    [named('In', 'c1'), [], ['c1']],
    [named('In', 'c9'), [], []],
    [named('Exists'), ['c2', 'c3'], ['c1']],
    [named('NotIn', 'c2'), ['c3'], ['c1', 'c1-']],
    [named('NotIn', 'c1'), ['c2', 'c3'], ['c1-']],
    [named('DoesNotExist'), [], ['c1-']],
    [{ namespaceSelector: { matchLabels: { [K]: 'c2', team: 'a' } } }, [], []],
    [{ podSelector: { matchLabels: { [K]: 'c2' } } }, [], []],
  ];

  it('has the eleven cases', () => {
    expect(cases).toHaveLength(peers.length);
  });

  it.each(peers.map(([from, ...want], i) => ({ row: cases[i] ?? [], from, want })))(
    'has a row that is true: $row.0: $row.1; $row.2',
    ({ row: [, remotely = '', locally = ''], from, want: [remote, local] }) => {
      const spec = specOf({ podSelector: {}, ingress: [{ from: [from] }] });
      expect(selected(spec, 'c1', 'beta', 'web')).toEqual([...local, ...remote]);
      expect(remotely).toMatch(REMOTE[remote.join()]!);
      expect(locally).toMatch(LOCAL[local.join()]!);
    },
  );
  const REMOTE: Readonly<Record<string, RegExp>> = {
    '': /^(no cluster|where all hold)/,
    c2: /^c2$/,
    'c2,c3': /^every remote/,
    c3: /^all others/,
  };
  const LOCAL: Readonly<Record<string, RegExp>> = {
    '': /^(no namespace|where all hold|Pods with that label)$/,
    c1: /^namespaces with (the label `c1`|any value)$/,
    'c1-': /^(\*\*every namespace|namespaces) without the label/,
    'c1,c1-': /^(all namespaces that match|every namespace)$/,
  };
});

it('docs/operations.md looks for sets under each label domain', () => {
  const [hops = ''] = docBlocks('operations.md', "c1 can't reach X of c2", 'sh pods');
  const third = hops.slice(hops.indexOf('# 3.'), hops.indexOf('# 4.'));
  const said = execFileSync('sh', ['-c', `kubectl() { echo "$@"; }\nremote=c2\n${third}`], { encoding: 'utf8' });
  expect(said.match(/(?<=-l )\S+/g)).toEqual(labelDomains.map((domain) => `${domain}/cluster=c2`));
});
