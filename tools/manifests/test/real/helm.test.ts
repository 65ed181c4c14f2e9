// Real: helm and kubectl install the manifests on an API server.
import { join } from 'node:path';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { bash, chartFolder, docBlocks, helm, type RealCluster, startRealCluster } from '@kube-semaphore/testkit';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parse } from 'yaml';
import { deploy } from '../support/render.ts';
import { specOf, workloadsIn } from '../support/workload.ts';

/** All kinds of the manifests. */
const KINDS = [
  'namespaces',
  'serviceaccounts',
  'secrets',
  'configmaps',
  'deployments',
  'daemonsets',
  'services',
  'leases',
  'resourcequotas',
  'networkpolicies',
  'poddisruptionbudgets',
  'roles',
  'rolebindings',
  'clusterroles',
  'clusterrolebindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
].join(',');

const RELEASE = ['kube-semaphore', '--namespace', 'kube-system'];
const values = parse(docBlocks('helm.md', 'All apps', 'yaml')[0]!) as Record<string, object>;

let cluster: RealCluster;
beforeEach(async () => {
  cluster = await startRealCluster({ name: 'c1', controllerManager: true });
});
afterEach(() => cluster.stop());

const run = (args: readonly string[], given?: object) =>
  helm([...args], { values: given, kubeconfig: cluster.adminKubeconfig });
const install = () => run(['install', ...RELEASE, chartFolder('kube-semaphore')], values);
const adopt = (...flags: readonly string[]) =>
  run(['upgrade', '--install', ...RELEASE, chartFolder('kube-semaphore'), ...flags], values);
const upgrade = (given: object) => run(['upgrade', ...RELEASE, chartFolder('kube-semaphore')], given);

/** Objects of the manifests in the cluster. */
async function ours(): Promise<readonly KubeObject[]> {
  const { stdout } = await bash(`kubectl get ${KINDS} -A -l app.kubernetes.io/part-of=kube-semaphore -o json`, cluster);
  return (JSON.parse(stdout) as { items: readonly KubeObject[] }).items;
}

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

/** UIDs by name. */
const uidsOf = (objects: readonly KubeObject[]): Readonly<Record<string, string>> =>
  Object.fromEntries(objects.map((object) => [nameOf(object), object.metadata.uid!]));

/** Replicas and remotes of semaphore-policy. */
function stateOf(objects: readonly KubeObject[]) {
  const policy = workloadsIn(objects).find(({ metadata }) => metadata.name === 'semaphore-policy')!;
  const { replicas, template } = specOf(policy);
  return { replicas, remotes: template.spec.volumes.flatMap(({ name }) => (name === 'config' ? [] : [name])) };
}

it('installs, upgrades, goes back and uninstalls', async () => {
  const { stdout } = await install();
  expect(stdout).toContain('semaphore-policy reads c2.');
  const first = await ours();
  expect(first.length).toBeGreaterThan(50);
  expect(stateOf(first)).toEqual({ replicas: 2, remotes: ['remote-c2'] });

  const { global: globals, ...others } = values as { global: { remotes: readonly object[] } };
  const c3 = { name: 'c3', remoteAPIURL: 'https://api.c3.example:6443', allowedPodCIDRs: ['10.6.0.0/16'] };
  const more = { ...(others['semaphore-policy' as never] as object), replicas: 3 };
  const changed = { ...others, global: { ...globals, remotes: [...globals.remotes, c3] }, 'semaphore-policy': more };
  await upgrade(changed);
  const second = await ours();
  expect(uidsOf(second)).toEqual(uidsOf(first));
  expect(stateOf(second)).toEqual({ replicas: 3, remotes: ['remote-c2', 'remote-c3'] });

  await run(['rollback', ...RELEASE, '1']);
  const third = await ours();
  expect(uidsOf(third)).toEqual(uidsOf(first));
  expect(stateOf(third)).toEqual(stateOf(first));

  await run(['uninstall', ...RELEASE]);
  const left = (await ours()).filter(({ metadata }) => metadata['deletionTimestamp'] === undefined);
  expect(left.map(nameOf).toSorted()).toEqual([
    'Lease kube-system/semaphore-policy',
    'Namespace /semaphore-policy',
    'Namespace /sys-semaphore',
  ]);
  // And again, with what stayed.
  await install();
});

/** What semaphore-service-mirror wrote. */
const MIRROR = '/api/v1/namespaces/sys-semaphore/services/c2-shop-73736d-web';

it('adopts what kubectl and semaphore link applied, and gives it back, without a new object', async () => {
  const example = join(deploy, 'overlays/example/c1');
  const ofLink = 'app.kubernetes.io/name=semaphore-wireguard';
  /** Applies a part as `kubectl apply` does, and a part as `semaphore link`. */
  const kustomize = () =>
    bash(
      `kubectl apply -k ${example} -l '${ofLink.replace('=', '!=')}'
       kubectl apply -k ${example} -l ${ofLink} --server-side --force-conflicts --field-manager=semaphore-link`,
      cluster,
    );
  const imagesOf = (objects: readonly KubeObject[]) =>
    workloadsIn(objects).map((workload) => specOf(workload).template.spec.containers[0].image);
  await kustomize();
  await cluster.admin.create('/api/v1/namespaces/sys-semaphore/services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'c2-shop-73736d-web', labels: { 'mirrored-svc': 'true' } },
    spec: { ports: [{ port: 80 }] },
  });
  const mirror = await cluster.admin.get(MIRROR);
  const before = await ours();
  expect(before.length).toBeGreaterThan(50);

  await expect(install()).rejects.toThrow('cannot be imported into the current release');
  expect(await ours()).toEqual(before);
  await expect(adopt('--take-ownership')).rejects.toThrow('conflict');
  await adopt('--take-ownership', '--force-conflicts');
  const adopted = await ours();
  expect(uidsOf(adopted)).toMatchObject(uidsOf(before));
  // The ConfigMaps of kustomize have no labels, and other names.
  expect(Object.keys(uidsOf(adopted)).filter((name) => !(name in uidsOf(before)))).toEqual([
    'ConfigMap kube-system/semaphore-policy-config',
    'ConfigMap kube-system/semaphore-wireguard',
    'ConfigMap sys-semaphore/semaphore-service-mirror',
  ]);
  expect(imagesOf(adopted)).toEqual(imagesOf(before).map((image) => `registry.example/semaphore/${image}`));

  const [forget = ''] = docBlocks('helm.md', 'From Helm to kustomize')[0]!.split('\n');
  await bash(forget.replace('--context c1 ', ''), cluster);
  await expect(run(['status', ...RELEASE])).rejects.toThrow('not found');
  await kustomize();
  const returned = await ours();
  expect(uidsOf(returned)).toEqual(uidsOf(adopted));
  expect(imagesOf(returned)).toEqual(imagesOf(before));
  expect(await cluster.admin.get(MIRROR)).toEqual(mirror);
});
