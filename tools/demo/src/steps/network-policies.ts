import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { clusterSetLabel, companionClusterLabel } from '@kube-semaphore/network-policies';
import type { Step } from './start.ts';

/** An entry for each address in the objects. */
const cidrsIn = (objects: readonly KubeObject[]) => JSON.stringify(objects).match(/"cidr":/g) ?? [];

/** A NetworkPolicy of c1 that names c2, until it is deleted. */
export const networkPolicies: Step = async ({ out, c1, c2, checkout, ledger }) => {
  const peer = {
    namespaceSelector: {
      matchLabels: { [clusterSetLabel]: c2.name, 'kubernetes.io/metadata.name': checkout.namespace },
    },
    podSelector: { matchLabels: { app: checkout.app } },
  };
  const policy = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: ledger.app, namespace: ledger.namespace },
    spec: { podSelector: { matchLabels: { app: ledger.app } }, ingress: [{ from: [peer] }] },
  };
  out.step(
    'A NetworkPolicy names the other cluster',
    `Sets need Calico, and a label on each pod. An ordinary NetworkPolicy needs neither. This one of c1 allows
    ${checkout.app} of c2, where 3 pods start, to call ${ledger.app}:`,
  );
  out.showYaml(policy);
  const path = `/apis/${policy.apiVersion}/namespaces/${ledger.namespace}/networkpolicies`;
  const { admin } = c1.server;
  const companions = async (): Promise<readonly KubeObject[]> =>
    (await admin.list(path)).filter(({ metadata }) => metadata.labels?.[companionClusterLabel] === c2.name);
  const startMs = performance.now();
  await Promise.all([admin.create(path, policy), checkout.scale(3)]);
  const addresses = checkout.pods.flatMap(({ ips }) => ips).length;
  const isComplete = (found: readonly KubeObject[]) => cidrsIn(found).length === addresses;
  const [companion] = await eventually(companions, isComplete, { what: 'the companion', intervalMs: 5 });
  out.result('a companion of the NetworkPolicy has the addresses of all 3 pods', performance.now() - startMs);
  out.showYaml({ kind: policy.kind, metadata: { name: companion!.metadata.name }, spec: companion!['spec'] });
  out.say('Any CNI plugin that supports NetworkPolicies enforces both. Now the NetworkPolicy is deleted.');
  const deletedMs = performance.now();
  await admin.delete(`${path}/${ledger.app}`);
  await eventually(companions, [], { what: 'no companion', intervalMs: 5 });
  out.result('the companion is deleted, too', performance.now() - deletedMs);
};
