import { describe, expect, it } from 'vitest';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { policyPage } from './support/pages.ts';
import { runHere } from './support/run.ts';

const KEY = 'cluster.clusterset.k8s.io';

const list = (kind: string, apiVersion: string, ...items: readonly object[]) => ({
  apiVersion,
  kind: `${kind}List`,
  metadata: { resourceVersion: '1' },
  items,
});

const namespaces = (...names: readonly string[]) =>
  list(
    'Namespace',
    'v1',
    ...names.map((name) => ({ metadata: { name, labels: { 'kubernetes.io/metadata.name': name } } })),
  );

const pod = (name: string, ip: string) => ({
  metadata: { namespace: 'beta', name, labels: { app: 'web' } },
  status: { phase: 'Running', podIPs: [{ ip }] },
});

const fromClusters = (operator: string, ...values: readonly string[]) => ({
  podSelector: {},
  policyTypes: ['Ingress'],
  ingress: [
    {
      from: [{ namespaceSelector: { matchExpressions: [{ key: KEY, operator, values }] }, podSelector: {} }],
      ports: [{ port: 5432, protocol: 'TCP' }],
    },
  ],
});

const policies = (spec: object) =>
  list('NetworkPolicy', 'networking.k8s.io/v1', { metadata: { namespace: 'alpha', name: 'db' }, spec });

const POLICIES = '/apis/networking.k8s.io/v1/networkpolicies';
const PODS = '/api/v1/pods';

const web = list('Pod', 'v1', pod('web-1', '10.4.0.9'), pod('web-2', '10.4.0.10'), pod('far', '10.9.0.1'));

/** c1 has a NetworkPolicy, and c2 has Pods. */
const clusters = (spec: object) => ({
  c1: { '/api/v1/namespaces': namespaces('alpha'), [POLICIES]: policies(spec), [PODS]: list('Pod', 'v1') },
  c2: {
    '/api/v1/namespaces': namespaces('beta'),
    [POLICIES]: list('NetworkPolicy', 'networking.k8s.io/v1'),
    [PODS]: web,
  },
});

type Served = Parameters<typeof startApiServer>[0];

/** What the checks print of each cluster, without those that found nothing. */
async function check(servers: Readonly<Record<string, Served>>, ...argv: readonly string[]) {
  const urls = await Promise.all(
    Object.entries(servers).map(async ([name, of]) => [name, await startApiServer(of)] as const),
  );
  const contexts = urls.flatMap(([name]) => ['--context', name]);
  const kubeconfig = await kubeconfigOf(Object.fromEntries(urls));
  const { code, stdout, stderr } = await runHere(
    {},
    'check',
    '--network-policies',
    '--kubeconfig',
    kubeconfig,
    ...contexts,
    ...argv,
  );
  expect(stderr).toBe('');
  return { code, stdout, lines: stdout.split('\n').filter((line) => /^\S \S+: /.test(line)) };
}

/** semaphore-policy in c1, which reads c2. */
const policyOf = (config: object, remote: object = {}) => {
  const page = JSON.parse(
    policyPage({ config: { allowedPodCIDRs: ['10.4.0.0/16'], clusterSetID: 'c2' }, ...remote }),
  ) as object;
  return [{ app: 'semaphore-policy', name: 'policy-0', status: () => JSON.stringify({ ...page, config }) }];
};

describe('check --network-policies', () => {
  it('says whom policies let in, before there is a semaphore-policy', async () => {
    const { c1, c2 } = clusters(fromClusters('In', 'c2'));
    const served = { c1: { pods: [], objects: c1 }, c2: { pods: [], objects: c2 } };
    const { code, lines } = await check(served);
    expect(lines).toEqual([
      '✓ policies-let-in: c1: alpha/db: ingress on 5432/TCP from c2: 3 Pods: beta/far, beta/web-1, beta/web-2',
      `! namespaces-labelled: c1: namespaces without the label ${KEY}: alpha`,
      `! namespaces-labelled: c2: namespaces without the label ${KEY}: beta`,
    ]);
    expect(code).toBe(0);
    const { stdout } = await check(served, '-o', 'json');
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: readonly { name: string }[] };
    expect([ok, checks.find(({ name }) => name === 'policies-let-in')]).toEqual([
      true,
      expect.objectContaining({
        result: 'ok',
        findings: [
          {
            severity: 'note',
            detail: 'c1: alpha/db: ingress on 5432/TCP from c2: 3 Pods',
            objects: ['beta/far', 'beta/web-1', 'beta/web-2'],
          },
        ],
      }),
    ]);
  });

  it('takes the config of semaphore-policy, whether -network-policies is on or off', async () => {
    const { c1, c2 } = clusters(fromClusters('In', 'prod'));
    const selected = {
      ...c2,
      [`${PODS}?shared=yes`]: list('Pod', 'v1', pod('web-1', '10.4.0.9'), pod('far', '10.9.0.1')),
    };
    const config = { networkPolicies: false, name: 'here', remotePodSelector: 'shared=yes' };
    const pods = policyOf(config, { config: { allowedPodCIDRs: ['10.4.0.0/16'], clusterSetID: 'prod' } });
    const { lines } = await check({ c1: { pods, objects: c1 }, c2: { pods: [], objects: selected } });
    expect(lines[0]).toBe('✓ policies-let-in: c1: alpha/db: ingress on 5432/TCP from c2: 1 Pod: beta/web-1');
  });

  it('knows the limits of semaphore-policy, and the names of clusters', async () => {
    const { c1, c2 } = clusters(fromClusters('In', 'c2', 'c9'));
    const pods = policyOf({ networkPolicies: true, name: 'c1', maxAddressesPerSource: 1 });
    const { lines } = await check({ c1: { pods, objects: c1 }, c2: { pods: [], objects: c2 } });
    expect(lines).toEqual(
      expect.arrayContaining([
        '! policies-effective: c1: NetworkPolicy alpha/db: it names the cluster c9, which is not a remote in the config',
        expect.stringMatching(/^✗ policies-effective: c1: NetworkPolicy alpha\/db: c2: .*-max-addresses-per-source/),
      ]),
    );
  });

  it('ends with 1 if a policy says others and means everybody', async () => {
    const { c1, c2 } = clusters(fromClusters('NotIn', 'c1'));
    const { code, lines } = await check({ c1: { pods: [], objects: c1 }, c2: { pods: [], objects: c2 } });
    expect(lines).toEqual(
      expect.arrayContaining([
        '! policies-closed: c1: alpha/db: ingress on 5432/TCP from every remote that is added later',
        expect.stringMatching(
          /^✗ policies-effective: c1: NetworkPolicy alpha\/db: it excludes the cluster c1, but also/,
        ),
      ]),
    );
    expect(code).toBe(1);
  });

  it('does not take Pods that are not read for none', async () => {
    const { c1, c2 } = clusters(fromClusters('In', 'c2'));
    const own = { pods: policyOf({ networkPolicies: true, name: 'c1' }), objects: c1 };
    const title = '✗ policies-let-in: c1: alpha/db: ingress on 5432/TCP from c2: its Pods are unknown: ';
    const alone = await check({ c1: own });
    expect([alone.code, alone.lines[0]]).toEqual([1, `${title}its --context is not given`]);
    const { [PODS]: _pods, ...rest } = c2;
    const unread = await check({ c1: own, c2: { pods: [], objects: { ...rest, [PODS]: 'no JSON' } } });
    expect([unread.code, unread.lines.find((line) => line.startsWith(title))]).toEqual([1, expect.any(String)]);
    const refused = await check({ c1: own, c2: { refusal: 403, message: 'you may not' } });
    expect([refused.code, refused.lines.some((line) => line.startsWith(title))]).toEqual([1, true]);
  });

  it('ends with 1 if the policies, or the config of semaphore-policy, are not read', async () => {
    const { c1, c2 } = clusters(fromClusters('In', 'c2'));
    const others = { c2: { pods: [], objects: c2 } };
    const broken = await check({ c1: { pods: [], objects: { ...c1, [POLICIES]: 'no JSON' } }, ...others });
    expect([broken.code, broken.lines[0]]).toEqual([1, expect.stringMatching(/^✗ policies-read: c1: /)]);
    const pods = [{ app: 'semaphore-policy', name: 'policy-0', status: 503 }];
    const silent = await check({ c1: { pods, objects: c1 }, ...others });
    expect([silent.code, silent.lines[0]]).toEqual([
      1,
      '✗ policies-read: c1: semaphore-policy does not report its config',
    ]);
  });

  it('names policies for the whole cluster that name clusters without effect', async () => {
    const { c1, c2 } = clusters(fromClusters('In', 'c2'));
    const kind = 'policy.networking.k8s.io/v1alpha2';
    const from = [{ namespaces: { matchLabels: { [KEY]: 'c2' } } }];
    const spec = { subject: { namespaces: {} }, ingress: [{ action: 'Accept', from }] };
    const objects = {
      ...c1,
      '/apis': { groups: [{ name: 'policy.networking.k8s.io' }] },
      [`/apis/${kind}/clusternetworkpolicies`]: list('ClusterNetworkPolicy', kind, {
        metadata: { name: 'open' },
        spec,
      }),
    };
    const { code, lines } = await check({ c1: { pods: [], objects }, c2: { pods: [], objects: c2 } });
    expect(lines).toContainEqual(
      expect.stringMatching(/^✗ policies-effective: c1: ClusterNetworkPolicy open: ingress rule 1 \(Accept\) names /),
    );
    expect(code).toBe(1);
  });

  it('is not for before the installation', async () => {
    const { code, stderr } = await runHere({}, 'check', '--network-policies', '--pre');
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("'--network-policies' cannot be used with option '--pre'"),
    ]);
  });
});

describe('check', () => {
  it('names policies that select our sets by accident', async () => {
    const api = 'crd.projectcalico.org/v1';
    const rule = (selector: string) => ({ action: 'Allow', source: { selector } });
    const sets = (...labels: readonly object[]) =>
      list(
        'GlobalNetworkSet',
        api,
        ...labels.map((each, i) => ({ metadata: { name: `${i}`, labels: each }, spec: {} })),
      );
    const kind = 'policy.networking.k8s.io/v1alpha2';
    const from = [{ namespaces: { matchExpressions: [{ key: 'team', operator: 'DoesNotExist' }] } }];
    const ofCluster = { metadata: { name: 'wide' }, spec: { ingress: [{ action: 'Accept', from }] } };
    const found = async (labels: readonly object[], config: object = {}) => {
      const objects = {
        '/apis': { groups: [{ name: 'crd.projectcalico.org' }, { name: 'policy.networking.k8s.io' }] },
        [`/apis/${api}/globalnetworkpolicies`]: list('GlobalNetworkPolicy', api, {
          metadata: { name: 'open' },
          spec: { ingress: [rule("app != 'x'"), rule("semaphore.uw.systems/name == 'web'")] },
        }),
        [`/apis/${api}/networkpolicies`]: list('NetworkPolicy', api),
        [`/apis/${api}/globalnetworksets`]: sets(...labels),
        [`/apis/${kind}/clusternetworkpolicies`]: list('ClusterNetworkPolicy', kind, ofCluster),
      };
      const c1 = await startApiServer({ pods: policyOf(config), objects });
      const { stdout } = await runHere({}, 'check', '--kubeconfig', await kubeconfigOf({ c1 }, 'c1'));
      return stdout.split('\n').filter((line) => line.includes(' sets-unselected'));
    };
    const ours = { 'semaphore.uw.systems/cluster': 'c2', 'semaphore.uw.systems/name': 'web' };
    const also = 'also selects 1 of our sets: name a label that has to be there';
    expect(await found([ours, { team: 'a' }])).toEqual([
      `✗ sets-unselected: c1: GlobalNetworkPolicy open: ingress rule 1 (Allow): its source ${also}`,
      `✗ sets-unselected: c1: ClusterNetworkPolicy wide: ingress rule 1 (Accept): its peer 1 ${also}`,
    ]);
    expect(await found([{ team: 'a' }])).toEqual(['✓ sets-unselected']);
    // The first group comes with a later NetworkPolicy.
    expect((await found([], { networkPolicySink: 'calico' }))[0]).toMatch(/would also select sets that we write/);
  });
});
