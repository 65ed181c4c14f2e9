// Real: kubectl renders the manifests.
import { docBlocks, docPage } from '@kube-semaphore/testkit';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { choices, deploy, kustomize, objectsIn } from '../support/render.ts';
import { only, specOf } from '../support/workload.ts';

const page = '../deploy/README.md';
const block = (heading: string): string => docBlocks(page, heading, 'yaml').join('---\n');

it('has a row for each folder', () => {
  const rows = docPage(page)
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  for (const folder of choices.flatMap(({ folder: main, components = [] }) => [main, ...components])) {
    expect(rows.filter((row) => row.split(' | ')[0]?.includes(`\`${folder}\``))).toHaveLength(1);
  }
});

it('names folders that exist, also for a remote kustomization', async () => {
  const { resources, components } = parse(block('Your clusters')) as Readonly<
    Record<'resources' | 'components', readonly string[]>
  >;
  const foldersOf = (urls: readonly string[]): readonly string[] =>
    urls.map((url) => /\/\/deploy\/([^?]+)\?ref=v0\.1\.0$/.exec(url)?.[1] ?? url);
  const there = { resources: foldersOf(resources), components: foldersOf(components) };
  expect(
    [...there.resources, ...there.components].filter(
      (folder) => !existsSync(join(deploy, folder, 'kustomization.yaml')),
    ),
  ).toEqual([]);
  // Each is of the named kind: kustomize refuses a component as a resource.
  expect(only(objectsIn(await kustomize(there)), 'Deployment').metadata.name).toBe('semaphore-service-mirror');
});

it('has a patch that adds a setting to the base', async () => {
  const { patches } = parse(block('Settings')) as { readonly patches: readonly unknown[] };
  const settings = async (kustomization: object): Promise<Record<string, unknown>> => {
    const [{ env = [] }] = specOf(
      only(objectsIn(await kustomize({ resources: ['policy/base'], ...kustomization })), 'Deployment'),
    ).template.spec.containers;
    return Object.fromEntries(env.map(({ name, value }) => [name, value]));
  };
  const before = await settings({});
  expect(before).toMatchObject({ SP_CONFIG: '/etc/kube-semaphore/config/config.json' });
  expect(before).not.toHaveProperty('SP_LOG_LEVEL');
  expect(await settings({ patches })).toEqual({ ...before, SP_LOG_LEVEL: 'debug' });
});

it('has a patch that changes the quota of Services', async () => {
  const { patches } = parse(block('Quotas')) as { readonly patches: readonly unknown[] };
  const hardOf = async (kustomization: object): Promise<readonly unknown[]> => {
    const objects = objectsIn(await kustomize({ resources: ['service-mirror/base'], ...kustomization }));
    return objects
      .filter(({ kind }) => kind === 'ResourceQuota')
      .map(({ spec }) => (spec as { readonly hard: unknown }).hard);
  };
  expect(await hardOf({})).toContainEqual({ 'count/services': '5000' });
  expect(await hardOf({ patches })).toEqual([{ pods: '10' }, { 'count/services': '20000' }]);
});

it('has a patch that gives two more remotes equal sidecars', async () => {
  const kustomization = {
    resources: ['wireguard/base'],
    components: ['wireguard/components/userspace'],
    patches: [{ path: 'sidecars.yaml' }],
    images: [{ name: 'semaphore-wireguard', newTag: '0.1.0' }],
  };
  const workload = only(
    objectsIn(await kustomize(kustomization, { 'sidecars.yaml': block('wireguard-go') })),
    'DaemonSet',
  );
  const sidecars = specOf(workload).template.spec.initContainers ?? [];
  const c3 = sidecars.find(({ name }) => name === 'wireguard-go');
  const c4 = sidecars.find(({ name }) => name === 'wireguard-go-c4');
  expect(sidecars).toHaveLength(2);
  expect(JSON.stringify(c3)).toContain('wireguard.c3');
  expect({ ...c4, name: 'wireguard-go' }).toEqual(
    JSON.parse(JSON.stringify(c3).replaceAll('wireguard.c3', 'wireguard.c4')),
  );
});
