import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { policyEngines } from '@kube-semaphore/real-nodes';
import { goesWithoutEngines } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clusterSetLabel as K } from '@kube-semaphore/network-policies';
import { folders } from '../support/accounts.ts';
import { type Engine, type Flow, PacketSystem, textOf } from '../support/net/packet-system.ts';
import { hasFailed } from '../support/remote-state.ts';

/*
 * Real engines enforce NetworkPolicies of c1 and their companions on packets. All tests share one system, and each continues
 * where the one before it ended.
 */

const CASES_FROM = 7000;
const caseNumbers = Array.from({ length: 14 }, (_, i) => CASES_FROM + i);

const system = new PacketSystem({
  engines: Object.keys(policyEngines) as readonly Engine[],
  localPods: {
    db: { namespace: 'alpha', labels: { app: 'db' }, host: 10, ports: [5432, 8080] },
    other: { namespace: 'alpha', labels: { app: 'other' }, host: 11 },
    cases: { namespace: 'alpha', labels: { app: 'cases' }, host: 12, ports: caseNumbers },
  },
  // The label K of a Pod means nothing.
  remotePods: {
    c2: {
      'beta/web': { labels: { app: 'web', [K]: 'c2' }, host: 20, http: 8080, ports: [8080] },
      'beta/web-2': { labels: { app: 'web' }, host: 22, http: 8080, ports: [8080], comesLater: true },
      'beta/web-3': { labels: { app: 'web' }, host: 23, http: 8080, ports: [8080], comesLater: true },
      'beta/other': { labels: { app: 'other' }, host: 21 },
      'gamma/x': { labels: { app: 'web' }, host: 30, http: 9090, ports: [8080, 9090] },
    },
    c3: { 'beta/web': { labels: { app: 'web' }, host: 20 } },
  },
  // gamma of c2 says that it is of c1.
  remoteNamespaces: { gamma: { [K]: 'c1' } },
  components: { local: [folders.networkPolicies, folders.calico], remote: [folders.remoteNamespaces] },
});

const POLICIES = '/apis/networking.k8s.io/v1/namespaces/alpha/networkpolicies';

const startController = (sink: 'networkpolicy' | 'calico'): Promise<void> =>
  system.startController('-network-policies', `-network-policy-sink=${sink}`, '-calico-api=crd.projectcalico.org/v1');

const policy = (name: string, spec: object): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { namespace: 'alpha', name },
  spec,
});

async function replaceSpec(name: string, spec: object): Promise<void> {
  const path = `${POLICIES}/${name}`;
  const { status } = await system.cluster.admin.request('PUT', path, {
    ...(await system.cluster.admin.get(path)),
    spec,
  });
  if (status !== 200) throw new Error(`PUT ${name}: ${status}`);
}

describe.skipIf(goesWithoutEngines)('NetworkPolicies on packets', () => {
  beforeAll(() => system.start());
  afterAll(() => system.stop());

  describe('a policy that names c2 for ingress, and all clusters for egress', () => {
    const flows: readonly Flow[] = [
      ['c2/beta/web', 'db', 5432],
      ['c2/beta/web', 'db', 8080],
      ['c2/beta/web-2', 'db', 5432],
      ['c2/beta/web-2', 'db', 8080],
      ['c2/beta/web-3', 'db', 5432],
      ['c2/beta/other', 'db', 5432],
      ['c2/gamma/x', 'db', 5432],
      ['c3/beta/web', 'db', 5432],
      ['other', 'db', 5432],
      ['db', 'c2/beta/web', 8080],
      ['db', 'c2/beta/web-2', 8080],
      ['db', 'c2/beta/web-3', 8080],
      ['db', 'c2/gamma/x', 8080],
      ['db', 'c2/gamma/x', 9090],
      ['other', 'c2/gamma/x', 8080],
    ];
    const only = (...wanted: readonly string[]) => flows.filter((flow) => wanted.includes(textOf(flow)));
    /** What the policy isn't about. */
    const notSelected = 'other -> c2/gamma/x:8080';

    it('opens everything without the policy', async () => {
      await eventually(() => system.openAmong(flows), system.everywhere(flows));
    });

    /** Lets Pods `web` of beta in c2 in by a port, and out to the port `http` of all Pods in other clusters. */
    const dbPolicy = (port: number) => ({
      podSelector: { matchLabels: { app: 'db' } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        {
          from: [
            {
              namespaceSelector: { matchLabels: { [K]: 'c2', 'kubernetes.io/metadata.name': 'beta' } },
              podSelector: { matchLabels: { app: 'web' } },
            },
          ],
          ports: [{ port }],
        },
      ],
      egress: [
        {
          to: [{ namespaceSelector: { matchExpressions: [{ key: K, operator: 'Exists' }] } }],
          ports: [{ port: 'http' }],
        },
      ],
    });

    it('closes to all Pods of other clusters by the policy alone', async () => {
      await system.cluster.admin.create(POLICIES, policy('db', dbPolicy(5432)));
      await eventually(() => system.openAmong(flows), system.everywhere(only(notSelected)));
    });

    it('opens exactly what the policy names by its companions', async () => {
      await startController('networkpolicy');
      const open = ['c2/beta/web -> db:5432', 'db -> c2/beta/web:8080', 'db -> c2/gamma/x:9090'];
      await eventually(() => system.openAmong(flows), system.everywhere(only(notSelected, ...open)));
    });

    it('refuses no connection while Pods come and go, one by one and at once', async () => {
      const flowsOf = (pod: string) => only(`c2/beta/${pod} -> db:5432`, `db -> c2/beta/${pod}:8080`);
      const steps = [
        { stays: 'web', comes: 'web-2' },
        { stays: 'web-2', comes: 'web-3', goes: 'web' },
        // A new semaphore-policy gets to know of both at once, and writes once.
        { stays: 'web-2', comes: 'web', goes: 'web-3', whileStopped: true },
        { stays: 'web-2', goes: 'web' },
      ];
      for (const { stays, comes, goes, whileStopped = false } of steps) {
        const change = async (): Promise<void> => {
          if (whileStopped) await system.controller.stop();
          if (goes !== undefined) await system.removeRemotePod('c2', `beta/${goes}`);
          if (comes !== undefined) await system.addRemotePod('c2', `beta/${comes}`);
          if (whileStopped) await startController('networkpolicy');
          const changed = [comes, goes].flatMap((pod) => (pod === undefined ? [] : flowsOf(pod)));
          await eventually(
            () => system.openAmong(changed),
            system.everywhere(comes === undefined ? [] : flowsOf(comes)),
          );
        };
        expect(await system.openThroughout(flowsOf(stays), change)).toEqual(system.everywhere(flowsOf(stays)));
      }
      const open = ['c2/beta/web-2 -> db:5432', 'db -> c2/beta/web-2:8080', 'db -> c2/gamma/x:9090'];
      expect(await system.openAmong(flows)).toEqual(system.everywhere(only(notSelected, ...open)));
    });

    it('opens another port when the policy names another one', async () => {
      await replaceSpec('db', dbPolicy(8080));
      const open = ['c2/beta/web-2 -> db:8080', 'db -> c2/beta/web-2:8080', 'db -> c2/gamma/x:9090'];
      await eventually(() => system.openAmong(flows), system.everywhere(only(notSelected, ...open)));
    });

    it('closes what the policy names no more while c2 is away, and opens nothing new of c2', async () => {
      await system.proxy.set({ kind: 'refuse' });
      await hasFailed(system.controller, 'unreachable');
      await system.addRemotePod('c2', 'beta/web');
      await replaceSpec('db', { ...dbPolicy(8080), egress: [] });
      const open = ['c2/beta/web-2 -> db:8080'];
      await eventually(() => system.openAmong(flows), system.everywhere(only(notSelected, ...open)));
      await system.proxy.clear();
      await eventually(
        () => system.openAmong(flows),
        system.everywhere(only(notSelected, 'c2/beta/web -> db:8080', ...open)),
      );
    });

    it('opens again what a deleted companion opened', async () => {
      const uidOf = async (name: string) =>
        (await system.cluster.admin.list(POLICIES)).find(({ metadata }) => metadata.name === name)?.metadata.uid;
      const names = (await system.cluster.admin.list(POLICIES)).map(({ metadata }) => metadata.name);
      const ingress = names.filter((name) => name.startsWith('db-c2-ingress-'));
      expect(ingress).toHaveLength(1);
      const before = await uidOf(ingress[0]!);
      await system.cluster.admin.delete(`${POLICIES}/${ingress[0]}`);
      await eventually(
        () => uidOf(ingress[0]!),
        (uid) => uid !== undefined && uid !== before,
      );
      const open = ['c2/beta/web -> db:8080', 'c2/beta/web-2 -> db:8080'];
      await eventually(() => system.openAmong(flows), system.everywhere(only(notSelected, ...open)));
    });

    it('opens the same by policies of Calico, and refuses no connection when these take the place of others', async () => {
      const on = ['felix', 'felix-iptables'] as const;
      const egress = ['db -> c2/beta/web:8080', 'db -> c2/beta/web-2:8080', 'db -> c2/gamma/x:9090'];
      const opened = (port: number) =>
        only(notSelected, ...egress, `c2/beta/web -> db:${port}`, `c2/beta/web-2 -> db:${port}`);
      await replaceSpec('db', dbPolicy(8080));
      await eventually(() => system.openAmong(flows, on), system.everywhere(opened(8080), on));
      for (const [sink, path, before, after] of [
        ['calico', '/apis/networking.k8s.io/v1/networkpolicies', 8080, 5432],
        ['networkpolicy', '/apis/crd.projectcalico.org/v1/networkpolicies', 5432, 8080],
      ] as const) {
        const change = async (): Promise<void> => {
          await system.controller.stop();
          await startController(sink);
          await eventually(async () => {
            const companions = (await system.cluster.admin.list(path)).map(({ metadata }) => metadata.name);
            return companions.filter((name) => name.includes('db-c2-'));
          }, []);
        };
        expect(await system.openThroughout(opened(before), change, on)).toEqual(system.everywhere(opened(before), on));
        // This is in force after the removal of the other companions is.
        await replaceSpec('db', dbPolicy(after));
        await eventually(() => system.openAmong(flows, on), system.everywhere(opened(after), on));
      }
    });

    it('opens everything when the policy is deleted, and its companions with it', async () => {
      await system.cluster.admin.delete(`${POLICIES}/db`);
      await eventually(() => system.openAmong(flows), system.everywhere(flows));
    });
  });

  describe('a policy for each way to name clusters', () => {
    const expression = (operator: string, ...values: readonly string[]) => ({
      namespaceSelector: { matchExpressions: [{ key: K, operator, ...(values.length > 0 && { values }) }] },
    });
    const label = (cluster: string) => ({ namespaceSelector: { matchLabels: { [K]: cluster } } });
    const all: readonly string[] = ['c1', 'c2', 'c3'];

    /** Clusters whose Pods get in, while the namespaces of c1 have no label and when they have. */
    const cases: readonly { peer: object; unlabelled: readonly string[]; labelled: readonly string[] }[] = [
      { peer: { namespaceSelector: {} }, unlabelled: ['c1'], labelled: ['c1'] },
      { peer: { podSelector: {} }, unlabelled: ['c1'], labelled: ['c1'] },
      { peer: label('c2'), unlabelled: ['c2'], labelled: ['c2'] },
      { peer: expression('In', 'c2'), unlabelled: ['c2'], labelled: ['c2'] },
      { peer: expression('In', 'c1', 'c2'), unlabelled: ['c2'], labelled: ['c1', 'c2'] },
      { peer: label('c1'), unlabelled: [], labelled: ['c1'] },
      { peer: label('c9'), unlabelled: [], labelled: [] },
      { peer: expression('Exists'), unlabelled: ['c2', 'c3'], labelled: all },
      { peer: expression('NotIn', 'c2'), unlabelled: ['c1', 'c3'], labelled: ['c1', 'c3'] },
      { peer: expression('NotIn', 'c1'), unlabelled: all, labelled: ['c2', 'c3'] },
      { peer: expression('DoesNotExist'), unlabelled: ['c1'], labelled: [] },
      {
        peer: {
          namespaceSelector: {
            matchLabels: { 'kubernetes.io/metadata.name': 'beta' },
            matchExpressions: [
              { key: K, operator: 'Exists' },
              { key: K, operator: 'NotIn', values: ['c3'] },
            ],
          },
        },
        unlabelled: ['c2'],
        labelled: ['c2'],
      },
      { peer: { podSelector: { matchLabels: { [K]: 'c2' } } }, unlabelled: [], labelled: [] },
      { peer: { namespaceSelector: {}, podSelector: { matchLabels: { [K]: 'c2' } } }, unlabelled: [], labelled: [] },
    ];
    const sources: Readonly<Record<string, string>> = { c1: 'other', c2: 'c2/beta/web', c3: 'c3/beta/web' };
    /** Each case has a port of its own. */
    const flowsFrom = (clusters: (each: (typeof cases)[number]) => readonly string[]): readonly Flow[] =>
      cases.flatMap((each, i) => clusters(each).map((name) => [sources[name]!, 'cases', CASES_FROM + i] as const));
    const flows = flowsFrom(() => all);

    it('lets in the clusters that it names, and local Pods as ever while their namespace has no label', async () => {
      for (const [i, { peer }] of cases.entries())
        await system.cluster.admin.create(
          POLICIES,
          policy(`case-${i}`, {
            podSelector: { matchLabels: { app: 'cases' } },
            policyTypes: ['Ingress'],
            ingress: [{ from: [peer], ports: [{ port: CASES_FROM + i }] }],
          }),
        );
      await eventually(() => system.openAmong(flows), system.everywhere(flowsFrom(({ unlabelled }) => unlabelled)));
    });

    it('lets in local Pods by their cluster when their namespace has its label', async () => {
      const { status } = await system.cluster.admin.request('PATCH', '/api/v1/namespaces/alpha', {
        metadata: { labels: { [K]: 'c1' } },
      });
      expect(status).toBe(200);
      await eventually(() => system.openAmong(flows), system.everywhere(flowsFrom(({ labelled }) => labelled)));
    });
  });
});
