import type { KubeObject, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually, isDefined } from '@kube-semaphore/eventually';
import { startFaultProxy } from '@kube-semaphore/fault-proxy';
import { failingWrites, shortLease } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { folders } from '../support/accounts.ts';
import { it as itWithNetworkPolicies } from '../support/it-with-network-policies.ts';
import { permissiveCrd } from '../support/permissive-crd.ts';
import { peer } from '../support/user-policies.ts';

const CALICO = { group: 'crd.projectcalico.org', version: 'v1', kind: 'NetworkPolicy', plural: 'networkpolicies' };
const CILIUM = { group: 'cilium.io', version: 'v2' };
const kindsOfSinks = [
  { ...CALICO, scope: 'Namespaced' },
  { ...CILIUM, kind: 'CiliumNetworkPolicy', plural: 'ciliumnetworkpolicies', scope: 'Namespaced' },
  { ...CILIUM, kind: 'CiliumCIDRGroup', plural: 'ciliumcidrgroups' },
] as const;

const it = itWithNetworkPolicies
  .extend('components', { scope: 'file' }, () => [folders.calico, folders.cilium])
  .extend('sinks', { scope: 'file' }, async ({ local }) => {
    for (const kind of kindsOfSinks) await local.defineResource(permissiveCrd(kind));
  })
  .extend('proxy', async ({ local, sinks: _sinks }, { onCleanup }) => {
    const proxy = await startFaultProxy(local);
    onCleanup(() => proxy.stop());
    return proxy;
  });

const SETS = '/apis/crd.projectcalico.org/v1/globalnetworksets';

/** The objects that hold addresses. */
const kinds = [
  { what: 'a set', path: SETS, flags: {} },
  { what: 'a companion', path: '/apis/networking.k8s.io/v1/namespaces/alpha/networkpolicies', flags: {} },
  {
    what: 'a group of the sink calico',
    path: SETS,
    flags: { 'network-policy-sink': 'calico', 'calico-api': 'crd.projectcalico.org/v1' },
  },
  {
    what: 'a group of the sink cilium',
    path: '/apis/cilium.io/v2/ciliumcidrgroups',
    flags: { 'network-policy-sink': 'cilium' },
  },
] as const;

/** The object with an address, as text. */
async function objectWith({ admin }: TestCluster, path: string, address: string): Promise<KubeObject | undefined> {
  return (await admin.list(path)).find((object) => JSON.stringify(object).includes(`"${address}/32"`));
}

describe.each(kinds)('$what that can not be written for ever', ({ what, path, flags }) => {
  it('delays nothing of another cluster, whatever the API server answers', async ({
    accounts,
    configFile,
    local,
    pods,
    policies,
    proxy,
    startWith,
  }) => {
    const config = await configFile(
      { name: 'c2', allowedPodCIDRs: ['10.2.0.0/16'] },
      { name: 'c3', allowedPodCIDRs: ['10.3.0.0/16'] },
    );
    const all = { 'local-kube-config': await proxy.kubeconfig(accounts.local), ...flags };
    await startWith([
      `-config=${config}`,
      '-network-policies',
      '-listen-address=127.0.0.1:0',
      ...Object.entries(all).map(([flag, value]) => `-${flag}=${value}`),
    ]);
    for (const [i, { name, fault }] of failingWrites.entries()) {
      const app = `web-${i}`;
      const podOf = (cluster: 2 | 3, number: number) => ({
        name: `${app}-${cluster}-${number}`,
        // In a set, or selected by a policy.
        ...(what === 'a set' ? { app } : { labels: { app } }),
        ips: [`10.${cluster}.${i}.${number}`],
      });
      await policies.add(`db-${i}`, {
        podSelector: { matchLabels: { app: 'db' } },
        ingress: [{ from: [peer('c2', app), peer('c3', app)] }],
      });
      await pods.add(podOf(2, 1), podOf(3, 1));
      const ofC2 = await eventually(() => objectWith(local, path, `10.2.${i}.1`), isDefined);
      await eventually(() => objectWith(local, path, `10.3.${i}.1`), isDefined);
      const target = new RegExp(`/${ofC2.metadata.name}$`);
      await proxy.set(fault, { verb: 'update', target });
      await pods.add(podOf(2, 2));
      const failed = () => proxy.requests().find((each) => target.test(each.target) && each.faults.length > 0);
      await eventually(async () => failed(), isDefined, { what: `a write that fails with ${name}` });
      await pods.remove(`default/${app}-3-1`);
      await eventually(() => objectWith(local, path, `10.3.${i}.1`), undefined, { what: `a deletion beside ${name}` });
      expect(await objectWith(local, path, `10.2.${i}.2`)).toBeUndefined();
      await proxy.clear();
      await pods.add(podOf(2, 3));
      await eventually(() => objectWith(local, path, `10.2.${i}.3`), isDefined, { what: `a write after ${name}` });
    }
  });
});

/** Short, as each row waits until a leader gives up. */
const lease = {
  ...shortLease('failing-writes'),
  'lease-namespace': 'semaphore-policy',
  'lease-duration': '3s',
  'renew-deadline': '1500ms',
  'retry-period': '100ms',
};

describe('a Lease that can not be written', () => {
  it('stops all writes, but no reads, until it can, whatever the API server answers', async ({
    accounts,
    pods,
    proxy,
    sets,
    start,
  }) => {
    const policy = await start({ ...lease, 'local-kube-config': await proxy.kubeconfig(accounts.local) });
    const podsOfC2 = async () => {
      const { body } = await policy.get('/status');
      const { remotes } = JSON.parse(body) as { remotes: { up: boolean; objects: { pods: number } }[] };
      return remotes.map(({ up, objects }) => (up ? objects.pods : undefined));
    };
    const leading = () => policy.log().findLast(({ msg }) => msg.endsWith(' leading'))?.msg;
    let nets = {};
    for (const [i, { name, fault }] of failingWrites.entries()) {
      await eventually(leading, 'started leading', { what: `a leader before ${name}` });
      await proxy.set(fault, { target: /\/leases\/.*failing-writes/, verb: 'update' });
      await eventually(leading, 'stopped leading', { what: `no leader with ${name}` });
      await pods.add({ name: `p${i}`, app: `app-${i}`, ips: [`10.4.0.${i}`] });
      if (i > 0) await pods.remove(`p${i - 1}`);
      await eventually(podsOfC2, [1], { what: `what c2 has now, with ${name}` });
      expect(await sets.nets(), `with ${name}`).toEqual(nets);
      await proxy.clear();
      nets = { [`c2-default-app-${i}`]: [`10.4.0.${i}/32`] };
      await sets.become(nets);
    }
  });
});
