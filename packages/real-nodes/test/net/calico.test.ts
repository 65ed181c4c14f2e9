import { eventually } from '@kube-semaphore/eventually';
import { goesWithoutEngines } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { BUSYBOX_IMAGE } from '../busybox.ts';
import { type StartedNodes, startNodes } from './start-nodes.ts';
import { apply, web } from './web.ts';

/** One system is started, and each test continues where the one before it ended. */
let system: StartedNodes;
let callerIp: string;

const refused: ReadonlySet<string> = new Set(['']);

const answers = (): Promise<ReadonlySet<string>> => web.answersTo('caller', system.nodes.cluster, 1);

const answered = (seen: ReadonlySet<string>): boolean => seen.size > 0 && !seen.has('');

/** A set as semaphore-policy writes it. */
const setOf = (nets: readonly string[]) => ({
  apiVersion: 'crd.projectcalico.org/v1',
  kind: 'GlobalNetworkSet',
  metadata: {
    name: 'c2-shop-checkout',
    labels: {
      'semaphore.uw.systems/cluster': 'c2',
      'semaphore.uw.systems/namespace': 'shop',
      'semaphore.uw.systems/name': 'checkout',
    },
  },
  spec: { nets },
});

describe.skipIf(goesWithoutEngines)('Calico', () => {
  beforeAll(async () => {
    system = await startNodes({ calico: true });
    const { cluster } = system.nodes;
    await web.deploy(cluster);
    await apply(cluster, [
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'caller' },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'caller', image: BUSYBOX_IMAGE, args: ['-c', 'sleep infinity'] }],
        },
      },
    ]);
    callerIp = await eventually(
      async () => {
        const { status } = await cluster.admin.get('/api/v1/namespaces/default/pods/caller');
        const { podIP = '' } = status as { podIP?: string };
        return podIP;
      },
      (ip) => ip !== '',
    );
  }, 180_000);
  afterAll(() => system.stop());

  it('lets Pods call each other while no policy selects them', async () => {
    await eventually(answers, answered);
  });

  it('refuses all calls when a NetworkPolicy allows none', async () => {
    await apply(system.nodes.cluster, [
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'web' },
        spec: { podSelector: { matchLabels: { app: 'web' } }, policyTypes: ['Ingress'] },
      },
    ]);
    await eventually(answers, refused);
    await system.nodes.cluster.admin.delete('/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/web');
    await eventually(answers, answered);
  });

  it('allows the addresses of a GlobalNetworkSet, and follows its changes', async () => {
    const { cluster } = system.nodes;
    await apply(cluster, [
      setOf(['192.0.2.7/32']),
      {
        apiVersion: 'crd.projectcalico.org/v1',
        kind: 'NetworkPolicy',
        metadata: { name: 'default.web' },
        spec: {
          tier: 'default',
          selector: "app == 'web'",
          types: ['Ingress'],
          ingress: [
            {
              action: 'Allow',
              protocol: 'TCP',
              source: {
                namespaceSelector: 'global()',
                selector: "semaphore.uw.systems/cluster == 'c2' && semaphore.uw.systems/name == 'checkout'",
              },
              destination: { ports: [8080] },
            },
          ],
        },
      },
    ]);
    await eventually(answers, refused);
    await apply(cluster, [setOf([`${callerIp}/32`])]);
    await eventually(answers, answered);
    await apply(cluster, [setOf([])]);
    await eventually(answers, refused);
  });
});
