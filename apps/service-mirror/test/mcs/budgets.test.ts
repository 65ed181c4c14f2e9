import type { EmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import { it, onTestFinished } from 'vitest';
import { startSet } from '../support/mcs/cluster-set.ts';
import { DRY_RUNS, requestsOf } from '../support/requests.ts';

const SERVICES = 1_000;

/** Exported Services, each with a slice of ten endpoints. */
const exported = Array.from({ length: SERVICES }, (_, i) => {
  const at = { name: `web-${i}`, namespace: 'shop' };
  const endpoints = Array.from({ length: 10 }, (__, n) => `10.${64 + (i >>> 8)}.${i & 255}.${n + 1}`);
  return [
    service(at),
    endpointSlice({ ...at, name: `web-${i}-x1`, service: at.name, endpoints }),
    { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata: at, spec: {} },
  ];
}).flat();

it(`imports ${SERVICES} Services with three creations and one status write each, and writes nothing more`, async () => {
  const set = await startSet({ names: ['c1', 'c2'] });
  onTestFinished(() => set.stop());
  const [c1, c2] = set.members as [(typeof set.members)[0], (typeof set.members)[0]];
  (c1.cluster as EmbeddedCluster).seed(exported);
  await c2.start();
  const counts = async () => ({
    created: await requestsOf(c2.mirror, ['POST']),
    status: await requestsOf(c2.mirror, ['PATCH']),
    changed: await requestsOf(c2.mirror, ['PUT', 'DELETE']),
  });
  const all = { created: DRY_RUNS + 3 * SERVICES, status: SERVICES, changed: 0 };
  // 4,000 writes to the test's own API server.
  await eventually(counts, all, { timeoutMs: 300_000 });
  await eventually(() => c2.mirror.metric('semaphore_service_mirror_mcs_imports', {}), SERVICES);
  // What is written again and again would be by now.
  for (const [i, name] of ['web-7', 'web-8'].entries()) {
    await c1.setEndpoints(name, ['10.4.0.1']);
    await eventually(() => c2.addresses(name), { c1: ['10.4.0.1'] });
    await eventually(counts, { ...all, changed: i + 1 });
  }
});
