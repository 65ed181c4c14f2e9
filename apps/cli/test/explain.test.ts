import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { otherSinksOf } from '@kube-semaphore/network-policies';
import { describe, expect, it, onTestFinished } from 'vitest';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { policyPage } from './support/pages.ts';
import { startPodsCluster } from './support/pods-cluster.ts';
import { afterContexts, run, runHere } from './support/run.ts';

const list = (kind: string, apiVersion: string, ...items: readonly object[]) => ({
  apiVersion,
  kind: `${kind}List`,
  metadata: { resourceVersion: '1' },
  items,
});

const pod = (name: string, ip: string) => ({
  metadata: { namespace: 'shop', name },
  spec: { nodeName: 'n1', containers: [{ name: 'a', ports: [{ containerPort: 8080 }] }] },
  status: { phase: 'Running', podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
});

const service = (namespace: string, name: string, annotations: object = {}) => ({
  metadata: { namespace, name, annotations, labels: { 'mirror-svc-prefix-sync': 'c2' } },
  spec: { ports: [{ port: 80, targetPort: 8080 }] },
});

const slice = {
  metadata: { namespace: 'shop', name: 'web-a' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.4.0.9'] }],
};

const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
const slicesOf = (name: string) => `endpointslices?kubernetes.io/service-name=${name}`;
const MIRROR = 'c2-shop-73736d-web';
const Corefile = String.raw`.:53 {
    rewrite name regex ^([^.]+)\.([^.]+)\.svc\.cluster\.c2\.$ c2-{2}-73736d-{1}.sys-semaphore.svc.cluster.local
    kubernetes cluster.local
}`;

const here = {
  '/api/v1/namespaces/shop': namespace,
  '/api/v1/namespaces/shop/pods': list('Pod', 'v1', pod('cart', '10.2.0.7')),
  '/api/v1/namespaces/kube-system/configmaps/coredns': { metadata: { resourceVersion: '1' }, data: { Corefile } },
  '/api/v1/services?mirrored-svc=true': list(
    'Service',
    'v1',
    service('sys-semaphore', MIRROR, { 'mirror-svc-source': 'c2/shop/web' }),
  ),
  [`/apis/discovery.k8s.io/v1/namespaces/sys-semaphore/${slicesOf(MIRROR)}`]: list(
    'EndpointSlice',
    'discovery.k8s.io/v1',
    slice,
  ),
};

const there = {
  '/api/v1/namespaces/shop': namespace,
  '/api/v1/namespaces/shop/pods': list('Pod', 'v1', pod('web-1', '10.4.0.9')),
  '/api/v1/namespaces/shop/services/web': { apiVersion: 'v1', kind: 'Service', ...service('shop', 'web') },
  [`/apis/discovery.k8s.io/v1/namespaces/shop/${slicesOf('web')}`]: list('EndpointSlice', 'discovery.k8s.io/v1', slice),
};

async function explain(objects: readonly [object, object], ...argv: readonly string[]) {
  const servers = await Promise.all(objects.map((each) => startApiServer({ pods: [], objects: { ...each } })));
  const kubeconfig = await kubeconfigOf({ c1: servers[0]!, c2: servers[1]! });
  const from = argv.includes('--from') ? [] : ['--from', 'c1/shop/cart'];
  return run('explain', '--kubeconfig', kubeconfig, ...from, ...argv);
}

describe('explain', () => {
  it('follows a packet by a DNS name, and ends with 0 if each hop is fine', async () => {
    const { code, stdout, stderr } = await explain([here, there], '--to', 'web.shop.svc.cluster.c2:80', '-o', 'json');
    expect([code, stderr]).toEqual([0, '']);
    const found = (name: string, result = 'ok') => expect.objectContaining({ name, result }) as unknown;
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: '1',
      ok: true,
      from: 'c1/shop/cart',
      to: 'web.shop.svc.cluster.c2:80',
      hops: [
        found('caller'),
        found('dns'),
        found('service'),
        found('endpoints'),
        found('egress-policy'),
        found('tunnel-out', 'skipped'),
        found('tunnel-in', 'skipped'),
        found('ingress-policy'),
        found('target'),
      ],
      firstWrong: null,
      pairs: [{ from: 'c1/shop/cart', to: 'web.shop.svc.cluster.c2:80', ok: true, firstWrong: null }],
    });
  });

  it('takes workloads and addresses, counts every pair of Pods, and shows the worst', async () => {
    const replica = (name: string, ip: string) => {
      const { metadata, ...rest } = pod(name, ip);
      return { metadata: { ...metadata, ownerReferences: [{ kind: 'ReplicaSet', name: 'web-5f6b7' }] }, ...rest };
    };
    const pods = [replica('web-1', '10.4.0.9'), replica('web-2', '10.4.0.10'), pod('other', '10.4.0.11')];
    const onlyFirst = {
      metadata: { namespace: 'shop', name: 'first' },
      spec: {
        podSelector: {},
        policyTypes: ['Egress'],
        egress: [{ to: [{ ipBlock: { cidr: '10.4.0.9/32' } }], ports: [{ port: 53, protocol: 'UDP' }] }],
      },
    };
    const sides = [
      {
        ...here,
        '/api/v1/pods': list('Pod', 'v1', pod('cart', '10.2.0.7')),
        '/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies': list(
          'NetworkPolicy',
          'networking.k8s.io/v1',
          onlyFirst,
        ),
      },
      { ...there, '/api/v1/namespaces/shop/pods': list('Pod', 'v1', ...pods) },
    ] as const;
    const { code, stdout } = await explain(sides, '--from', 'c1/10.2.0.7', '--to', 'c2/shop/deployment/web:53/udp');
    const lines = stdout.split('\n');
    expect([code, lines[0], lines[5]]).toEqual([
      1,
      'c1/shop/pod/cart -> c2/shop/pod/web-2:53/UDP',
      '✗ egress-policy   egress on 53/UDP of shop/cart is denied: shop/first: rule 1, peer 1: 10.4.0.10 is not in 10.4.0.9/32',
    ]);
    expect(lines.slice(-2)).toEqual(['1 of 2 pairs of Pods are fine.', '']);
    const away = await explain(sides, '--from', 'c1/10.2.0.8', '--to', 'c2/shop/deployment/web:53/udp');
    expect(away).toEqual({ code: 1, stdout: '', stderr: 'semaphore: no Pod of c1 has the address 10.2.0.8\n' });
    const probing = await explain(sides, '--to', 'c2/shop/deployment/web:53', '--probe');
    expect([probing.code, probing.stderr]).toEqual([2, 'semaphore: --probe asks one Pod: name one at each end\n']);
  });

  it('reads the Service ranges of a cluster, in which no Pod of another one can be', async () => {
    const spec = { cidrs: ['10.2.0.0/24'] };
    const from = [{ namespaceSelector: { matchLabels: { 'cluster.clusterset.k8s.io': 'c1' } } }];
    const source = {
      metadata: { namespace: 'shop', name: 'web' },
      spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ from }] },
    };
    const page = JSON.parse(policyPage({ name: 'c1', config: { clusterSetID: 'c1' } })) as object;
    const status = JSON.stringify({ ...page, config: { networkPolicies: true } });
    const c1 = await startApiServer({ pods: [], objects: here });
    const c2 = await startApiServer({
      pods: [{ app: 'semaphore-policy', name: 'policy-0', status: () => status }],
      objects: {
        ...there,
        '/apis/networking.k8s.io/v1/servicecidrs': list('ServiceCIDR', 'networking.k8s.io/v1', { spec }),
        '/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies': list(
          'NetworkPolicy',
          'networking.k8s.io/v1',
          source,
        ),
      },
    });
    const words = ['--from', 'c1/shop/cart', '--to', 'c2/shop/web'];
    const { stdout } = await runHere({}, 'explain', '--kubeconfig', await kubeconfigOf({ c1, c2 }), ...words);
    expect(stdout).toContain('not the address: 10.2.0.7 is in 10.2.0.0/24, a Service range of the local cluster\n');
  });

  it('asks the Pod and the address of the Service with --probe, from a Pod beside the caller that it removes', async () => {
    const listening = createServer().listen(0, '127.13.9.2');
    await once(listening, 'listening');
    onTestFinished(() => void listening.close());
    const { port } = listening.address() as AddressInfo;
    const local = service('sys-semaphore', MIRROR, { 'mirror-svc-source': 'c2/shop/web' });
    const remote = { apiVersion: 'v1', kind: 'Service', ...service('shop', 'web') };
    const probed = async (targetPort: number) => {
      const ports = [{ port, targetPort }];
      const mirrors = list('Service', 'v1', { ...local, spec: { clusterIP: '127.13.9.2', ports } });
      const copied = list('EndpointSlice', 'discovery.k8s.io/v1', {
        ...slice,
        endpoints: [{ addresses: ['127.13.9.2'] }],
      });
      const c1 = await startPodsCluster('127.13.9.1', {
        namespace: 'shop',
        objects: {
          ...here,
          '/api/v1/services?mirrored-svc=true': mirrors,
          [`/apis/discovery.k8s.io/v1/namespaces/sys-semaphore/${slicesOf(MIRROR)}`]: copied,
        },
      });
      const c2 = await startApiServer({
        pods: [],
        objects: {
          ...there,
          '/api/v1/namespaces/shop/pods': list('Pod', 'v1', pod('web-1', '127.13.9.2')),
          '/api/v1/namespaces/shop/services/web': { ...remote, spec: { ports } },
          [`/apis/discovery.k8s.io/v1/namespaces/shop/${slicesOf('web')}`]: copied,
        },
      });
      const kubeconfig = await kubeconfigOf({ c1: c1.url, c2 });
      const words = ['--kubeconfig', kubeconfig, '--from', 'c1/shop/cart', '--to', 'c2/shop/web', '--image=node:24'];
      const { code, stdout, stderr } = afterContexts(await run('explain', ...words, '--probe'));
      expect([stderr, c1.created.length, c1.pods.size]).toEqual(['', 1, 0]);
      return { code, lines: stdout.split('\n') };
    };
    const closed = port === 1_024 ? 1_025 : 1_024;
    const place = `127.13.9.2:${port}`;
    const answered = await probed(port);
    expect([answered.code, answered.lines.at(-2)]).toEqual([0, 'Every hop is fine.']);
    expect(answered.lines).toContainEqual(
      expect.stringMatching(new RegExp(`^✓ service .*; ${place} answers a probe$`)),
    );
    expect(answered.lines).toContainEqual(
      expect.stringMatching(new RegExp(`^✓ target .*; it answers a probe of ${place}$`)),
    );
    const refused = await probed(closed);
    expect([refused.code, ...refused.lines.slice(-5)]).toEqual([
      1,
      `✗ target          shop/web-1 refuses a probe of 127.13.9.2:${closed}: its containers declare 8080/TCP, not ${closed}/TCP`,
      '',
      'First wrong: target',
      '  kubectl --context c2 -n shop edit service web  # targetPort',
      '',
    ]);
  });

  it('reads -remote-pod-selector of the other side, and lets its API server read it', async () => {
    const source = {
      metadata: { namespace: 'shop', name: 'from-c1' },
      spec: {
        podSelector: {},
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ namespaceSelector: { matchLabels: { 'cluster.clusterset.k8s.io': 'c1' } } }] }],
      },
    };
    const config = { networkPolicies: true, remotePodSelector: 'shared=yes' };
    const page = JSON.parse(policyPage({ name: 'c1', config: { clusterSetID: 'c1' } })) as object;
    const status = JSON.stringify({ ...page, config });
    const c2 = await startApiServer({
      pods: [{ app: 'semaphore-policy', name: 'policy-0', status: () => status }],
      objects: {
        ...there,
        '/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies': list(
          'NetworkPolicy',
          'networking.k8s.io/v1',
          source,
        ),
      },
    });
    const detail = async (selected: readonly object[]): Promise<string | undefined> => {
      const pods = { '/api/v1/namespaces/shop/pods?shared=yes': list('Pod', 'v1', ...selected) };
      const c1 = await startApiServer({ pods: [], objects: { ...here, ...pods } });
      const words = ['--from', 'c1/shop/cart', '--to', 'c2/shop/web', '-o', 'json'];
      const { stdout } = await runHere({}, 'explain', '--kubeconfig', await kubeconfigOf({ c1, c2 }), ...words);
      const { hops } = JSON.parse(stdout) as { hops: readonly { name: string; detail: string }[] };
      return hops.find(({ name }) => name === 'ingress-policy')?.detail;
    };
    expect(await detail([])).toMatch(/the Pod does not match -remote-pod-selector shared=yes$/);
    expect(await detail([pod('cart', '10.2.0.7')])).toMatch(/has no companion for c1/);
  });

  it('names the first hop that is wrong, with a command, and ends with 1', async () => {
    const deny = { metadata: { namespace: 'shop', name: 'none' }, spec: { podSelector: {}, policyTypes: ['Ingress'] } };
    const policies = list('NetworkPolicy', 'networking.k8s.io/v1', deny);
    const denying = { ...there, '/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies': policies };
    const { code, stdout } = await explain([here, denying], '--to', 'c2/shop/web');
    expect([code, stdout.split('\n').slice(-3)]).toEqual([
      1,
      ['First wrong: ingress-policy', '  kubectl --context c2 -n shop edit networkpolicy none', ''],
    ]);
  });

  it.each(otherSinksOf('networkpolicy', 'projectcalico.org/v3').map((sink) => ({ ...sink, ...sink.resources[0]! })))(
    'knows companions of $group',
    async ({ group, partsOf, resources }) => {
      const apiVersion = 'networking.k8s.io/v1';
      const deny = {
        metadata: { namespace: 'shop', name: 'web' },
        spec: { podSelector: {}, policyTypes: ['Ingress'] },
      };
      const podSelector = { matchLabels: {}, matchExpressions: [] };
      const source = { namespace: 'shop', name: 'web', uid: 'u', generation: 1, podSelector };
      const rules = [{ text: 'x', ports: [], cidrs: ['10.2.0.7/32'] }];
      const parts = partsOf(source, { name: 'web-c1', remote: 'c1', direction: 'ingress', rules });
      const written = resources.map(({ plural, kind, version }) => [
        `/apis/${group}/${version}/${plural}`,
        list(kind, `${group}/${version}`, ...parts.flatMap((part) => (part.resource.plural === plural ? part.to : []))),
      ]);
      const denying = {
        ...there,
        '/apis': { groups: [{ name: group }] },
        [`/apis/${apiVersion}/namespaces/shop/networkpolicies`]: list('NetworkPolicy', apiVersion, deny),
      };
      const hopOf = async (objects: object): Promise<unknown> => {
        const { stdout } = await explain([here, objects], '--to', 'c2/shop/web', '-o', 'json');
        return (JSON.parse(stdout) as { firstWrong: unknown }).firstWrong;
      };
      const found = await Promise.all([hopOf(denying), hopOf({ ...denying, ...Object.fromEntries(written) })]);
      expect(found).toEqual(['ingress-policy', null]);
    },
  );

  it('names the Pod that has the address of one of a lost node', async () => {
    const [web, other] = [pod('web-1', '10.4.0.9'), pod('other', '10.4.0.9')];
    const late = { ...web, metadata: { ...web.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    const foreign = { ...other, metadata: { namespace: 'blog', name: 'other' } };
    const losing = {
      ...there,
      '/api/v1/namespaces/shop/pods': list('Pod', 'v1', late),
      '/api/v1/pods': list('Pod', 'v1', late, foreign),
    };
    const { code, stdout } = await explain([here, losing], '--to', 'c2/shop/web');
    const why = 'shop/web-1 should be gone since 2026-01-01T00:00:00.000Z, and blog/other has its address 10.4.0.9 now';
    expect(stdout).toContain(`✗ target          ${why}\n`);
    expect(stdout).toContain('First wrong: target\n  kubectl --context c2 get node n1\n');
    expect(code).toBe(1);
    const alone = { ...losing, '/api/v1/pods': list('Pod', 'v1', late) };
    expect((await explain([here, alone], '--to', 'c2/shop/web')).stdout).toMatch(
      /^✗ target .* shop\/web-1 should be gone since \S+, so it is in no set of another cluster$/m,
    );
  });

  it("reads Calico's own policies, and sets as Calico stores them", async () => {
    const apiVersion = 'crd.projectcalico.org/v1';
    const stored = JSON.stringify({ labels: { cluster: 'c1' } });
    const deny = { action: 'Deny', source: { selector: "cluster == 'c1'" } };
    const denying = {
      ...there,
      '/apis': { groups: [{ name: 'crd.projectcalico.org' }] },
      [`/apis/${apiVersion}/globalnetworkpolicies`]: list('GlobalNetworkPolicy', apiVersion, {
        metadata: { name: 'x' },
        spec: { ingress: [deny] },
      }),
      [`/apis/${apiVersion}/globalnetworksets`]: list('GlobalNetworkSet', apiVersion, {
        metadata: { name: 'c1', annotations: { 'projectcalico.org/metadata': stored } },
        spec: { nets: ['10.2.0.7/32'] },
      }),
    };
    const { stdout } = await explain([here, denying], '--to', 'c2/shop/web');
    expect(stdout).toContain('ingress on 8080/TCP of shop/web-1 is denied by GlobalNetworkPolicy x, rule 1');
  });

  it('reads what replaces the address of the caller, and names the setting', async () => {
    const env = [{ name: 'POD_SUBNET', value: '10.2.0.0/16' }];
    const kindnet = {
      metadata: { namespace: 'kube-system', name: 'kindnet' },
      spec: { template: { spec: { containers: [{ name: 'kindnet-cni', env }] } } },
    };
    const masquerading = { ...here, '/apis/apps/v1/namespaces/kube-system/daemonsets': { items: [kindnet] } };
    const { code, stdout } = await explain([masquerading, there], '--to', 'c2/shop/web');
    expect(stdout).toContain(
      '✗ tunnel-out      kindnet replaces the address of Pods in packets to 10.4.0.9: POD_SUBNET of',
    );
    expect([code, stdout.split('\n').at(-2)]).toEqual([
      1,
      '  kubectl --context c1 -n kube-system edit daemonset kindnet  # docs/wireguard.md#kindnet',
    ]);
  });

  it('reads policies for the whole cluster', async () => {
    const apiVersion = 'policy.networking.k8s.io/v1alpha2';
    const deny = {
      action: 'Deny',
      to: [{ networks: ['10.4.0.0/16'] }],
      protocols: [{ tcp: { destinationPort: { number: 8080 } } }],
    };
    const denying = {
      ...here,
      '/apis': { groups: [{ name: 'policy.networking.k8s.io' }] },
      [`/apis/${apiVersion}/clusternetworkpolicies`]: list('ClusterNetworkPolicy', apiVersion, {
        metadata: { name: 'x' },
        spec: { tier: 'Admin', priority: 1, subject: { namespaces: {} }, egress: [deny] },
      }),
    };
    const { stdout } = await explain([denying, there], '--to', 'c2/shop/web');
    expect(stdout).toContain('egress on 8080/TCP of shop/cart is denied by ClusterNetworkPolicy x, rule 1');
    expect(stdout).toContain('get clusternetworkpolicies.policy.networking.k8s.io x -o yaml');
  });

  it.each([
    { to: 'c1/shop/web', want: '--from and --to are in one cluster: name two contexts' },
    { to: 'web', want: '--to "web" is not a Service, Pod or DNS name' },
  ])('ends with 2 for --to $to', async ({ to, want }) => {
    const { code, stderr } = await explain([here, there], '--to', to);
    expect([code, stderr]).toEqual([2, expect.stringContaining(want)]);
  });
});
