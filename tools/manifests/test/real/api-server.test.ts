// Real: an API server validates the manifests and admits their Pods.
import { readdirSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { eventually } from '@kube-semaphore/eventually';
import { bash, docBlocks, prometheusOperatorCrds, type RealCluster, startRealCluster } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { choices, deploy, render } from '../support/render.ts';
import { specOf, workloadsIn } from '../support/workload.ts';

let c1: RealCluster;
let c2: RealCluster;

beforeAll(async () => {
  [c1, c2] = await Promise.all([prepared('c1'), prepared('c2')]);
});
afterAll(async () => {
  await Promise.all([c1.stop(), c2.stop()]);
});

/** A cluster with the namespaces of deploy/, which admit only restricted Pods, and with the objects that these name. */
async function prepared(name: string): Promise<RealCluster> {
  const cluster = await startRealCluster({ name });
  const labels = {
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  for (const definition of prometheusOperatorCrds()) await cluster.defineResource(definition);
  // A dry run creates none.
  for (const namespace of ['sys-semaphore', 'semaphore-policy']) {
    await cluster.admin.create('/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: namespace, labels },
    });
  }
  await eventually(
    async () =>
      (await cluster.admin.request('PATCH', '/api/v1/namespaces/kube-system', { metadata: { labels } })).status,
    200,
  );
  await eventually(async () => (await cluster.admin.request('GET', '/readyz')).status, 200);
  return cluster;
}

/** The violations of the agent, which it needs for its work. */
const VIOLATIONS = [
  'host namespaces (hostNetwork=true)',
  'hostPort (container "semaphore-wireguard" uses hostPort 7773)',
  'unrestricted capabilities (container "semaphore-wireguard" must not include "NET_ADMIN" in securityContext.capabilities.add)',
  'restricted volume types (volume "keys" uses restricted volume type "hostPath")',
  'runAsNonRoot != true (pod or container "semaphore-wireguard" must set securityContext.runAsNonRoot=true)',
  'runAsUser=0 (pod must not set runAsUser=0)',
];

it('knows every kustomization of deploy/', () => {
  const folders = readdirSync(deploy, { recursive: true, encoding: 'utf8' })
    // The charts have links to them.
    .filter((file) => file.endsWith('kustomization.yaml') && !file.startsWith('charts/'))
    .map(dirname);
  expect([...new Set(choices.flatMap(({ folder, components = [] }) => [folder, ...components]))].toSorted()).toEqual(
    folders.toSorted(),
  );
});

it('is accepted by the API server, without a warning', async () => {
  const objects = (await Promise.all(choices.map(render))).flat();
  const different = [...new Map(objects.map((object) => [JSON.stringify(object), object])).values()];
  const list = join(c1.dir, 'list.json');
  await writeFile(list, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: different }));
  const { stdout, stderr } = await bash(`kubectl apply --dry-run=server -f ${list}`, c1);
  expect(stdout.trim().split('\n')).toHaveLength(different.length);
  // For example, about an unknown field, or a Pod that isn't restricted. Those of the agent follow below.
  const warnings = stderr
    .split('\n')
    .filter((line) => line.startsWith('Warning: ') && !line.includes('"semaphore-wireguard"'));
  expect(warnings.filter((line) => !line.includes('last-applied-configuration'))).toEqual([]);
});

describe('a restricted namespace', () => {
  /** The answer for a Pod of a choice's only workload. */
  const answerTo = async (folder: string): Promise<string> => {
    const [workload] = workloadsIn(await render({ folder }));
    if (workload === undefined) throw new Error(`${folder} has no workload`);
    const { metadata, spec } = specOf(workload).template;
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'one' }, spec };
    const { status, body } = await c1.admin.request(
      'POST',
      `/api/v1/namespaces/${workload.metadata.namespace}/pods?dryRun=All`,
      pod,
    );
    return `${status} ${String(body['message'])}`;
  };

  it.each(['policy/base', 'service-mirror/base'])('admits Pods of %s', async (folder) => {
    expect(await answerTo(folder)).toBe('201 undefined');
  });

  it('refuses the agent of wireguard only for rights that it needs', async () => {
    const words = await answerTo('wireguard/base');
    expect(words).toMatch(/^403 .* violates PodSecurity "restricted:latest": /);
    expect(words.slice(words.indexOf('latest": ') + 9).split(/, (?=\w+[^"]* \(|\w+[=!])/)).toEqual(VIOLATIONS);
  });
});

it('is installed, with tokens of the other cluster, by the commands of its pages', async () => {
  const folder = join(c1.dir, 'work');
  await cp(deploy, join(folder, 'deploy'), { recursive: true });
  const kubeconfig = `${c1.adminKubeconfig}:${c2.adminKubeconfig}`;
  const type = (commands: readonly string[]) =>
    bash(`export KUBECONFIG=${kubeconfig}\ncd ${folder}\n${commands.join('')}`, c1);
  await type(docBlocks('by-hand.md', 'The manifests'));
  const configs = await c1.admin.list('/api/v1/namespaces/kube-system/configmaps');
  expect(configs.filter((config) => JSON.stringify(config).includes('https://c2-control-plane:6443'))).toHaveLength(2);

  const accounts = ['semaphore-policy-watcher', 'semaphore-service-mirror-remote', 'semaphore-wireguard-remote'];
  for (const { admin, name: cluster } of [c1, c2]) {
    for (const name of accounts) {
      // In place of the token controller.
      const data = { token: base64(`token of ${name} in ${cluster}`), 'ca.crt': base64(`CA of ${cluster}`) };
      await admin.request('PATCH', `/api/v1/namespaces/kube-system/secrets/${name}`, { data });
    }
  }
  await type([...docBlocks('by-hand.md', 'The tokens'), ...docBlocks('../deploy/README.md', 'Tokens')]);
  for (const [local, remote] of [
    [c1, c2],
    [c2, c1],
  ] as const) {
    const secrets = await Promise.all(
      [
        'kube-system/secrets/semaphore-policy',
        'sys-semaphore/secrets/semaphore-service-mirror',
        'kube-system/secrets/semaphore-wireguard',
      ].map((path) => local.admin.get(`/api/v1/namespaces/${path}-${remote.name}`)),
    );
    const want = accounts.map((name) => ({
      type: 'Opaque',
      data: { token: base64(`token of ${name} in ${remote.name}`), 'ca.crt': base64(`CA of ${remote.name}`) },
    }));
    expect(secrets).toMatchObject(want);
  }
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
