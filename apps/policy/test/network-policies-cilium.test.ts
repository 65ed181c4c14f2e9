import type { KubeObject, TestClient } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { ciliumCrds, goesWithoutEngines } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { folders } from './support/accounts.ts';
import { it as itWithNetworkPolicies } from './support/it-with-network-policies.ts';
import { fromApp, peer } from './support/user-policies.ts';

const POLICIES = '/apis/cilium.io/v2/namespaces/alpha/ciliumnetworkpolicies';
const GROUPS = '/apis/cilium.io/v2/ciliumcidrgroups';

type Refs = readonly { readonly cidrGroupRef: string }[];
type Rule = {
  readonly fromCIDRSet?: Refs;
  readonly toCIDRSet?: Refs;
  readonly toPorts?: readonly { readonly ports: readonly { readonly port: string; readonly protocol: string }[] }[];
};
type Spec = Readonly<Partial<Record<'ingress' | 'egress', readonly Rule[]>>>;

/** What Cilium's policies of namespace alpha open: see `UserPolicies.opened`. */
async function opened(client: TestClient): Promise<readonly string[]> {
  const groups = new Map(
    (await client.list(GROUPS)).map(({ metadata, spec }) => [
      metadata.name,
      (spec as { externalCIDRs: readonly string[] }).externalCIDRs,
    ]),
  );
  const lines = (await client.list(POLICIES)).flatMap(({ metadata, spec }) =>
    (['ingress', 'egress'] as const).flatMap((direction) =>
      ((spec as Spec)[direction] ?? []).map(({ fromCIDRSet = [], toCIDRSet = [], toPorts = [] }) => {
        const ports = toPorts.flatMap((part) => part.ports.map(({ port }) => port)).join('+') || 'all';
        const refs = [...fromCIDRSet, ...toCIDRSet].map(({ cidrGroupRef }) => cidrGroupRef);
        const cidrs = refs.flatMap((ref) => groups.get(ref) ?? ['nothing']);
        return `${metadata.annotations?.['policy.semaphore.uw.io/source']} ${direction} ${ports}: ${cidrs.join(' ')}`;
      }),
    ),
  );
  return lines.toSorted();
}

/** A test on a cluster with the real CustomResourceDefinitions of Cilium. */
const it = itWithNetworkPolicies
  .extend('components', { scope: 'file' }, () => [folders.cilium])
  .extend('local', { scope: 'file' }, async ({ clusters: { local } }) => {
    for (const definition of ciliumCrds()) await local.defineResource(definition);
    return local;
  })
  .extend('cilium', ({ local: { admin }, start }, { onCleanup }) => {
    onCleanup(async () => {
      for (const path of [POLICIES, GROUPS])
        await eventually(async () => {
          await admin.request('DELETE', path);
          return admin.list(path);
        }, []);
    });
    return {
      start: () => start({ 'network-policy-sink': 'cilium' }),
      open: (...lines: string[]) => eventually(() => opened(admin), lines.toSorted()),
      policies: () => admin.list(POLICIES),
      groups: () => admin.list(GROUPS),
      patch: async ({ metadata }: KubeObject, path: string, patch: object) =>
        expect((await admin.request('PATCH', `${path}/${metadata.name}`, patch)).status).toBe(200),
    };
  });

const WEB = { name: 'web', namespace: 'beta', labels: { app: 'web' }, ips: ['10.4.0.20'] };
const LINE = 'db ingress 5432: 10.4.0.20/32';

describe.skipIf(goesWithoutEngines)(
  'a NetworkPolicy that names another cluster, with -network-policy-sink=cilium',
  () => {
    it('gets a policy of Cilium that isolates no Pod, and groups of addresses', async ({ cilium, pods, policies }) => {
      await pods.add({ ...WEB, ips: ['10.4.0.20', 'fd00:4::20'], ports: { http: 8080 } });
      const many = Array.from({ length: 50 }, (_, i) => ({ port: 1000 + i, protocol: 'UDP' }));
      await policies.add('shapes', {
        podSelector: {
          matchLabels: { 'app.kubernetes.io/name': 'db' },
          matchExpressions: [
            { key: 'tier', operator: 'NotIn', values: ['a', 'b'] },
            { key: 'track', operator: 'Exists' },
          ],
        },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [
          { from: [peer('c2', 'web')], ports: [{ port: 5432 }, { port: 8000, endPort: 8010 }, { port: 'metrics' }] },
          { from: [peer('c2')], ports: many },
        ],
        egress: [
          { to: [peer('c2', 'web')], ports: [{ port: 'http' }, { protocol: 'SCTP' }] },
          { to: [{ ...peer('c2'), podSelector: {} }] },
        ],
      });
      await policies.add('everything', { podSelector: {}, ingress: [{ from: [peer('c2')] }] });
      const policy = await cilium.start();
      const both = '10.4.0.20/32 fd00:4::20/128';
      await cilium.open(
        `everything ingress all: ${both}`,
        `shapes egress 8080+0: ${both}`,
        `shapes egress all: ${both}`,
        `shapes ingress 5432+8000+metrics: ${both}`,
        `shapes ingress ${many.map(({ port }) => port).join('+')}: ${both}`,
      );
      const all = await cilium.policies();
      const { metadata, spec } = all.find(({ metadata: { name } }) => name.startsWith('shapes-c2-ingress-'))!;
      expect(metadata['ownerReferences']).toMatchObject([{ kind: 'NetworkPolicy', name: 'shapes' }]);
      expect(spec).toMatchObject({
        endpointSelector: {
          matchLabels: { 'k8s:app.kubernetes.io/name': 'db' },
          matchExpressions: [
            { key: 'k8s:tier', operator: 'NotIn', values: ['a', 'b'] },
            { key: 'k8s:track', operator: 'Exists' },
          ],
        },
        enableDefaultDeny: { ingress: false, egress: false },
      });
      expect(await policies.companions()).toEqual([]);
      await policy.logged('companion created', { addresses: 2 });
      expect(policy.log().filter(({ level }) => level === 'warn' || level === 'error')).toEqual([]);
    });

    it('follows a Pod by its group alone, and the policy by both', async ({ cilium, pods, policies }) => {
      await pods.add(WEB);
      await policies.add('db', fromApp('c2'));
      await cilium.start();
      await cilium.open(LINE);
      const [before] = await cilium.policies();
      await pods.add({ ...WEB, name: 'web-2', ips: ['10.4.0.22'] });
      await cilium.open(`${LINE} 10.4.0.22/32`);
      expect((await cilium.policies())[0]!.metadata['resourceVersion']).toBe(before!.metadata['resourceVersion']);
      await policies.patch('db', { spec: fromApp('c2', 'web', 5433) });
      await cilium.open('db ingress 5433: 10.4.0.20/32 10.4.0.22/32');
      await eventually(async () => (await cilium.groups()).length, 1);
      await policies.remove('db');
      await eventually(async () => [...(await cilium.policies()), ...(await cilium.groups())], []);
    });

    it('puts right what somebody edits', async ({ cilium, pods, policies }) => {
      await pods.add(WEB);
      await policies.add('db', fromApp('c2'));
      const policy = await cilium.start();
      await cilium.open(LINE);
      const repairs = () => policy.metric('semaphore_policy_repairs_total', { remote: 'c2' });
      const [[companion], [group]] = [await cilium.policies(), await cilium.groups()];
      await cilium.patch(companion!, POLICIES, {
        specs: [{ endpointSelector: {}, ingress: [{ fromEntities: ['all'] }] }],
      });
      await eventually(repairs, 1);
      await cilium.patch(companion!, POLICIES, { spec: { ingress: [{ fromEntities: ['all'] }] } });
      await eventually(repairs, 2);
      await cilium.patch(group!, GROUPS, { spec: { externalCIDRs: ['0.0.0.0/0'] } });
      await eventually(repairs, 3);
      await cilium.open(LINE);
      expect((await cilium.policies())[0]).not.toHaveProperty('specs');
    });

    it('takes the place of companions of another sink, and goes with cleanup', async ({
      accounts,
      cilium,
      pods,
      policies,
      start,
      startWith,
    }) => {
      await pods.add(WEB);
      await policies.add('db', fromApp('c2'));
      const before = await start();
      await policies.open('db c2 ingress 5432: 10.4.0.20/32');
      await before.stop();
      const policy = await cilium.start();
      await cilium.open(LINE);
      await policies.open();
      await policy.stop();
      const cleanup = await startWith(
        [
          'cleanup',
          '-cluster=c2',
          '-yes',
          '-network-policies',
          '-network-policy-sink=cilium',
          `-local-kube-config=${accounts.local.kubeconfig}`,
        ],
        { ready: false },
      );
      expect(await cleanup.exited).toEqual({ code: 0, signal: null });
      expect([...(await cilium.policies()), ...(await cilium.groups())]).toEqual([]);
    });
  },
);
