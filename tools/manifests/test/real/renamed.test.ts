// Real: an API server evaluates the renamed admission policies.
import { eventually } from '@kube-semaphore/eventually';
import { bash, globalNetworkSetCrd, type RealCluster, startRealCluster } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kustomize, objectsIn } from '../support/render.ts';
import { only, specOf, workloadsIn } from '../support/workload.ts';

/** For each account, a write that its role allows and its policy refuses. */
const trials = {
  'policy/base': {
    path: '/apis/crd.projectcalico.org/v1/globalnetworksets',
    object: {
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'GlobalNetworkSet',
      metadata: { name: 'of-others' },
      spec: { nets: [] },
    },
  },
  'service-mirror/base': {
    path: '/api/v1/namespaces/NAMESPACE/services',
    object: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'of-others' }, spec: { ports: [{ port: 80 }] } },
  },
  'wireguard/base': { path: '/api/v1/nodes/n1', object: { metadata: { labels: { changed: 'true' } } } },
} as const;

type Base = keyof typeof trials;

const rename = { namePrefix: 'a-', nameSuffix: '-z' };
const move = { namespace: 'elsewhere' };

let cluster: RealCluster;
beforeAll(async () => {
  cluster = await startRealCluster({ name: 'c1' });
  await cluster.defineResource(globalNetworkSetCrd('crd.projectcalico.org'));
  await cluster.admin.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  for (const name of ['sys-semaphore', 'elsewhere'])
    await cluster.admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
});
afterAll(() => cluster.stop());

/** The answer to such a write of the account of a kustomization, after its role is in force. */
async function answerTo(base: Base, kustomization: object): Promise<string> {
  const manifests = await kustomize({ resources: [base], ...kustomization });
  const { metadata } = only(objectsIn(manifests), 'ServiceAccount');
  await bash(`kubectl apply -f - <<'EOF'\n${manifests}\nEOF`, cluster);
  const { path, object } = trials[base];
  const headers = { 'Impersonate-User': `system:serviceaccount:${metadata.namespace}:${metadata.name}` };
  const method = base === 'wireguard/base' ? 'PATCH' : 'POST';
  const target = `${path.replace('NAMESPACE', metadata.namespace ?? '')}?dryRun=All`;
  const answers: string[] = [];
  await eventually(async () => {
    const { status, body } = await cluster.admin.request(method, target, object, { headers });
    answers.push(`${status} ${String(body['message'])}`);
    return answers.at(-1)!.includes('ValidatingAdmissionPolicy');
  }, true);
  return answers.at(-1)!;
}

describe('the account of', () => {
  it.each<{ base: Base; name: string; kustomization: object }>([
    { base: 'policy/base', name: 'a prefix and a suffix', kustomization: rename },
    { base: 'service-mirror/base', name: 'a prefix and a suffix', kustomization: rename },
    { base: 'service-mirror/base', name: 'another namespace', kustomization: move },
    { base: 'service-mirror/base', name: 'all three', kustomization: { ...rename, ...move } },
    { base: 'wireguard/base', name: 'a prefix and a suffix', kustomization: rename },
    { base: 'wireguard/base', name: 'another namespace', kustomization: move },
    { base: 'wireguard/base', name: 'all three', kustomization: { ...rename, ...move } },
    {
      base: 'wireguard/base',
      name: 'other labels',
      kustomization: { ...rename, labels: [{ pairs: { app: 'mine' } }] },
    },
  ])('$base is held to its own objects by an overlay that gives it $name', async ({ base, kustomization }) => {
    expect(await answerTo(base, kustomization)).toMatch(/^403 .* semaphore-(policy|service-mirror|wireguard) may /);
  });
});

describe('semaphore-policy', () => {
  it('can not be moved by `namespace`, which would separate its Lease from its rights', async () => {
    await expect(kustomize({ resources: ['policy/base'], ...move })).rejects.toThrow(
      'namespace transformation produces ID conflict',
    );
  });

  it('has its Lease in the namespace of its role, also under another name', async () => {
    const objects = objectsIn(await kustomize({ resources: ['policy/base'], ...rename }));
    const env = Object.fromEntries(
      (specOf(workloadsIn(objects)[0]!).template.spec.containers[0].env ?? []).map(({ name, value }) => [name, value]),
    );
    const roles = objects
      .filter(({ kind }) => kind === 'Role')
      .map(({ metadata, ...role }) => ({
        namespace: metadata.namespace,
        names: (role['rules'] as readonly { resourceNames?: readonly string[] }[])[0]?.resourceNames,
      }));
    expect(roles).toContainEqual({ namespace: env['SP_LEASE_NAMESPACE'], names: undefined });
    expect(roles).toContainEqual({ namespace: env['SP_PREVIOUS_LEASE_NAMESPACE'], names: [env['SP_LEASE_NAME']] });
  });
});

it.each(['policy', 'service-mirror', 'wireguard'])(
  '%s is without the kinds that API servers before 1.30 lack, with the component for those',
  async (app) => {
    const objects = objectsIn(
      await kustomize({ resources: [`${app}/base`], components: [`${app}/components/before-1.30`] }),
    );
    expect(objects.map(({ kind }) => kind)).toContain('ServiceAccount');
    expect(objects.filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'))).toEqual([]);
  },
);
