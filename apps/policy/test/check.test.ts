import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { describe, expect } from 'vitest';
import { it } from './support/it-with-network-policies.ts';
import { clusterPolicyCrds, permissiveCrd } from './support/permissive-crd.ts';
import { labelsOf } from './support/sets.ts';
import { Pods } from './support/pods.ts';
import { fromApp, K } from './support/user-policies.ts';

const CALICO = { group: 'crd.projectcalico.org', version: 'v1' };
const LACKS_TEAM = { key: 'team', operator: 'DoesNotExist' };
const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };

describe('check', () => {
  it('says whom policies would let in, and writes nothing', async ({ pods, policies, ask }) => {
    await pods.add(WEB, { ...WEB, name: 'other', labels: { app: 'other' }, ips: ['10.4.0.21'] });
    await policies.add('db', fromApp('c2'));
    const { code, stdout, stderr } = await ask(['check'], { 'local-cluster-name': 'c1' });
    expect(stdout).toMatch(/^allow {4}alpha\/db: ingress on 5432\/TCP from c2: 1 Pod: beta\/web$/m);
    expect(stdout).toMatch(/^note {5}\d+ local namespaces?: .*\balpha\b.* without the label /m);
    expect([code, stderr]).toEqual([0, '']);
    expect(await policies.companions()).toEqual([]);
    const { stdout: json } = await ask(['check'], { o: 'json' });
    expect(JSON.parse(json)).toMatchObject({
      rules: [{ networkPolicy: 'alpha/db', remotes: [{ cluster: 'c2', pods: ['beta/web'] }] }],
      remotes: [{ cluster: 'c2', reached: true }],
    });
  });

  it('exits with 1 if a policy says others and means everybody', async ({ policies, ask }) => {
    const namespaceSelector = { matchExpressions: [{ key: K, operator: 'NotIn', values: ['c1'] }] };
    await policies.add('db', { podSelector: {}, ingress: [{ from: [{ namespaceSelector }] }] });
    const { code, stdout } = await ask(['check'], { 'local-cluster-name': 'c1' });
    expect(code).toBe(1);
    expect(stdout).toContain('open     alpha/db: ingress on all ports from every remote that is added later\n');
    expect(stdout).toMatch(/^problem {2}NetworkPolicy alpha\/db: it excludes the cluster c1, but /m);
    const plan = await ask(['plan'], { 'network-policies': 'true' });
    expect(plan.stdout).toContain('open    alpha/db: ingress on all ports from every remote that is added later\n');
  });

  it('does not take an unreachable remote for an empty one', async ({ remote, accounts, policies, ask }) => {
    await using proxy = await startFaultProxy(remote);
    await proxy.set({ kind: 'refuse' });
    await policies.add('db', fromApp('c2'));
    const { code, stdout } = await ask(['check'], { 'target-kube-config': await proxy.kubeconfig(accounts.remote) });
    expect(code).toBe(1);
    expect(stdout).toContain('unknown  alpha/db: ingress on 5432/TCP from c2: it was not reached\n');
    expect(stdout).toMatch(/^c2: not reached: .+$/m);
  });

  it('says what it may not read', async ({ local, remote, policies, ask }) => {
    await policies.add('db', fromApp('c2'));
    const [here, there] = [await local.account('nobody', []), await remote.account('nobody', [])];
    const remotely = await ask(['check'], { 'target-kube-config': there.kubeconfig });
    expect(remotely.stdout).toMatch(/^c2: not reached: .*(namespaces|pods) is forbidden/m);
    expect(remotely.code).toBe(1);
    const locally = await ask(['check'], { 'local-kube-config': here.kubeconfig });
    expect(locally.stderr).toMatch(/^semaphore-policy: the local cluster is not reached: .* is forbidden.*\n$/);
    expect([locally.code, locally.stdout]).toEqual([1, '']);
  });

  it('names policies of Calico that select our sets by accident', async ({ local, sets, ask }) => {
    const global = { ...CALICO, kind: 'GlobalNetworkPolicy', plural: 'globalnetworkpolicies' };
    await local.defineResource(permissiveCrd(global));
    await sets.add({ name: 'c2-shop-web', labels: labelsOf('web'), nets: ['10.4.0.9/32'] });
    const { kubeconfig } = await local.account('administrator', [
      { apiGroups: ['*'], resources: ['*'], verbs: ['list'] },
    ]);
    const flags = { 'local-kube-config': kubeconfig };
    // The API of the other kind isn't there.
    expect((await ask(['check'], flags)).stdout).toMatch(/^note {5}policies of Calico: they were not read, /m);
    const namespaced = { ...CALICO, kind: 'NetworkPolicy', plural: 'networkpolicies', scope: 'Namespaced' } as const;
    await local.defineResource(permissiveCrd(namespaced));
    const spec = { ingress: [{ action: 'Allow', source: { selector: "app != 'x'" } }] };
    await local.admin.create('/apis/crd.projectcalico.org/v1/globalnetworkpolicies', {
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'GlobalNetworkPolicy',
      metadata: { name: 'open' },
      spec,
    });
    const { code, stdout } = await ask(['check'], flags);
    expect(stdout).toMatch(
      /^problem {2}GlobalNetworkPolicy open: ingress rule 1 \(Allow\): its source also selects 1 of our sets: /m,
    );
    expect(stdout).not.toContain('would also select');
    expect(code).toBe(1);
    const sink = { 'network-policy-sink': 'calico', 'calico-api': 'crd.projectcalico.org/v1' };
    expect((await ask(['check'], { ...flags, ...sink })).stdout).toMatch(
      /^problem {2}GlobalNetworkPolicy open: .*: its source would also select sets that we write: /m,
    );
  });

  it('knows whether Cilium ClusterMesh is here, too', async ({ local, ask }) => {
    await local.defineResource(
      permissiveCrd({ group: 'cilium.io', version: 'v2', kind: 'CiliumNode', plural: 'ciliumnodes' }),
    );
    const reader = async (name: string, ...resources: string[]) => {
      const { kubeconfig } = await local.account(name, [{ apiGroups: ['*'], resources, verbs: ['list'] }]);
      return kubeconfig;
    };
    const others = ['namespaces', 'networkpolicies', 'globalnetworksets', 'servicecidrs'];
    const [ofPods, ofOthers] = [await reader('of-pods', 'pods', ...others), await reader('of-others', ...others)];
    const mesh = async (kubeconfig: string) => {
      const { stdout } = await ask(['check'], { 'local-kube-config': kubeconfig });
      return stdout.split('\n').filter((line) => line.includes('ClusterMesh'));
    };
    expect(await mesh(ofPods)).toEqual([]);
    expect(await mesh(ofOthers)).toEqual([
      expect.stringMatching(/^note {5}Cilium ClusterMesh: whether it is here is not known: .*pods is forbidden/),
    ]);
    const localPods = new Pods(local);
    try {
      await localPods.add({ ...WEB, name: 'mesh', namespace: 'alpha', labels: { 'k8s-app': 'clustermesh-apiserver' } });
      expect(await mesh(ofPods)).toEqual([expect.stringMatching(/^note {5}Cilium ClusterMesh: it is here, too: /)]);
    } finally {
      await localPods.clear();
    }
  });

  it('names policies for the whole cluster that name clusters in vain, as plan does', async ({ local, sets, ask }) => {
    for (const definition of clusterPolicyCrds) await local.defineResource(definition);
    await sets.add({ name: 'c2-shop-web', labels: labelsOf('web'), nets: ['10.4.0.9/32'] });
    const from = [{ namespaces: { matchLabels: { [K]: 'c2' } } }, { namespaces: { matchExpressions: [LACKS_TEAM] } }];
    const path = '/apis/policy.networking.k8s.io/v1alpha2/clusternetworkpolicies';
    await local.admin.create(path, {
      apiVersion: 'policy.networking.k8s.io/v1alpha2',
      kind: 'ClusterNetworkPolicy',
      metadata: { name: 'open' },
      spec: { ingress: [{ action: 'Accept', from }] },
    });
    const { kubeconfig } = await local.account('reader', [{ apiGroups: ['*'], resources: ['*'], verbs: ['list'] }]);
    try {
      const { code, stdout } = await ask(['check'], { 'local-kube-config': kubeconfig });
      expect(stdout).toMatch(/^problem {2}ClusterNetworkPolicy open: ingress rule 1 \(Accept\) names /m);
      expect(stdout).toMatch(/^problem {2}ClusterNetworkPolicy open: .*: its peer 2 also selects 1 of our sets: /m);
      expect(code).toBe(1);
      const plan = await ask(['plan'], { 'network-policies': 'true' });
      expect(plan.stdout).toMatch(/^skip! {3}ClusterNetworkPolicy open: ingress rule 1 \(Accept\) names /m);
    } finally {
      await local.admin.delete(`${path}/open`);
    }
  });

  it('demands the CIDRs of remotes, as the controller does', async ({ ask, configFile }) => {
    const { code, stderr } = await ask(['check'], { 'allowed-pod-cidrs': undefined });
    expect(stderr).toMatch(/-allowed-pod-cidrs .* is required/);
    const file = await ask(['check'], {
      config: await configFile({ name: 'c2' }),
      'allowed-pod-cidrs': undefined,
      'target-kube-config': undefined,
      'target-cluster-name': undefined,
    });
    expect(file.stderr).toMatch(/remotes\[0\]\.allowedPodCIDRs: it is required with -network-policies/);
    expect([code, file.code]).toEqual([2, 2]);
  });
});
