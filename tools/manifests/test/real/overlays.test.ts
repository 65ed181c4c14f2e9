// Real: kubectl renders the manifests.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { beforeAll, describe, expect, it } from 'vitest';
import { planErrors, programs } from '../support/programs.ts';
import { deploy, render } from '../support/render.ts';
import { specOf, workloadsIn } from '../support/workload.ts';

const rendered: Record<string, readonly KubeObject[]> = {};
beforeAll(async () => {
  for (const name of ['c1', 'c2']) rendered[name] = await render({ folder: `overlays/example/${name}` });
});

/** Replaces the values of one cluster with those of the other. */
const swapped = (text: string): string => {
  const other: Readonly<Record<string, string>> = {
    c1: 'c2',
    c2: 'c1',
    '10.2.0.0/16': '10.4.0.0/16',
    '10.4.0.0/16': '10.2.0.0/16',
    '10.3.0.0/16': '10.5.0.0/16',
    '10.5.0.0/16': '10.3.0.0/16',
  };
  return text.replaceAll(/\bc[12]\b|\b10\.[2-5]\.0\.0\/16/g, (word) => other[word] ?? word);
};

/** Objects without the content hash that kustomize adds to the names of ConfigMaps. */
const withoutHashes = (objects: readonly KubeObject[] = []): string =>
  JSON.stringify(objects).replaceAll(/"(semaphore-[a-z-]+)-[a-z0-9]{10}"/g, '"$1"');

const filesOf = (cluster: string): Record<string, string> => {
  const folder = join(deploy, 'overlays/example', cluster);
  return Object.fromEntries(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
};

describe('the example', () => {
  it('has two clusters that differ only in names and addresses', () => {
    expect(JSON.parse(withoutHashes(rendered['c2']))).toEqual(JSON.parse(swapped(withoutHashes(rendered['c1']))));
    expect(filesOf('c2')).toEqual(Object.fromEntries(Object.entries(filesOf('c1')).map((entry) => entry.map(swapped))));
    expect(rendered['c1']).not.toEqual(rendered['c2']);
  });

  it('lets policy hold its old Lease, under its name', () => {
    const [role] = (rendered['c1'] ?? []).filter(
      ({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'kube-system',
    );
    expect(role?.['rules']).toMatchObject([{ resources: ['leases'], resourceNames: ['semaphore-policy'] }]);
  });

  it('has only Secrets that the API server fills in', () => {
    const secrets = (rendered['c1'] ?? []).filter(({ kind }) => kind === 'Secret');
    // One of each program's remote base, and that of service-mirror under the name of the Go program.
    expect(secrets.length).toBe(4);
    for (const secret of secrets) {
      expect(secret['type']).toBe('kubernetes.io/service-account-token');
      expect(Object.keys(secret)).not.toContain('data');
    }
  });
});

/** The checked fields of a NetworkPolicy. */
type PolicySpec = {
  readonly podSelector: { readonly matchLabels: object };
  readonly policyTypes: readonly string[];
  readonly ingress: readonly object[];
};

describe('in c1', () => {
  it('only the namespace of Prometheus reaches metrics, except in the network of the node, where no policy applies', () => {
    const objects = rendered['c1'] ?? [];
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
    for (const workload of workloadsIn(objects)) {
      const { metadata, spec } = specOf(workload).template;
      const its = policies.filter(
        (policy) => policy.metadata.namespace === workload.metadata.namespace && selects(policy, metadata.labels),
      );
      const from = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }];
      const rules = [
        {
          policyTypes: ['Ingress'],
          ingress: [{ from, ports: [{ protocol: 'TCP', port: spec.containers[0].ports[0]?.name }] }],
        },
      ];
      const { name } = workload.metadata;
      expect({ name, rules: its.map((policy) => policy['spec']) }).toMatchObject({
        name,
        rules: spec['hostNetwork'] === true ? [] : rules,
      });
    }
    expect(policies).toHaveLength(2);
  });

  it.each(programs)(
    '$name is told of c2, and finds its token and CA where the Secret is',
    async ({ name, configVariable }) => {
      const objects = rendered['c1'] ?? [];
      const {
        volumes,
        containers: [container],
      } = specOf(named(workloadsIn(objects), name)).template.spec;
      const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith(`${name}-`));
      expect(volumes).toContainEqual({ name: 'config', configMap: { name: config?.metadata.name } });
      expect(volumes).toContainEqual({ name: 'remote-c2', secret: { secretName: `${name}-c2` } });
      expect(container.volumeMounts).toContainEqual({
        name: 'remote-c2',
        mountPath: '/etc/kube-semaphore/remotes/c2',
        readOnly: true,
      });

      // It reads the whole file before it needs the clusters, which don't exist here.
      const file = join(deploy, 'overlays/example/c1', `${name.slice('semaphore-'.length)}.json`);
      const content = readFileSync(file, 'utf8');
      expect(config?.['data']).toEqual({ 'config.json': content });
      const { remotes, remoteClusters } = JSON.parse(content) as Record<string, unknown>;
      const [local, list] = remotes === undefined ? ['localCluster', 'remoteClusters'] : ['local', 'remotes'];
      expect(await planErrors(name, { [configVariable]: file, SWG_NODE_NAME: 'n1' })).toEqual([
        `${name}: ${file}: ${local}.kubeConfigPath: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: ` +
          'outside of a Pod, name a kubeconfig',
        `${name}: ${file}: ${list}[0] (c2): /etc/kube-semaphore/remotes/c2/ca.crt can't be read: there is no such file (ENOENT)`,
      ]);
      expect(remotes ?? remoteClusters).toMatchObject([
        { name: 'c2', remoteSATokenPath: '/etc/kube-semaphore/remotes/c2/token' },
      ]);
    },
  );
});

function selects(policy: KubeObject, labels: Readonly<Record<string, string>>): boolean {
  const { podSelector } = policy['spec'] as PolicySpec;
  return Object.entries(podSelector.matchLabels).every(([key, value]) => labels[key] === value);
}

function named(objects: readonly KubeObject[], name: string): KubeObject {
  const object = objects.find(({ metadata }) => metadata.name === name);
  if (object === undefined) throw new Error(`there is no ${name}`);
  return object;
}
