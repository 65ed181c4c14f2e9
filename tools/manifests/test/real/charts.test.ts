// Real: helm and kubectl render the manifests.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import {
  byName,
  type Chart,
  chartFolder,
  chartObjects,
  charts,
  docBlocks,
  helm,
  released,
} from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { planErrors, programs } from '../support/programs.ts';
import { choices, deploy, kustomize, objectsIn } from '../support/render.ts';
import { only, specOf } from '../support/workload.ts';

const { version } = JSON.parse(readFileSync(join(deploy, '../package.json'), 'utf8')) as { readonly version: string };

/** Folders of deploy/ and the values that choose them. */
type Choice = {
  readonly chart: Chart;
  readonly values?: object;
  readonly resources: readonly string[];
  readonly components?: readonly string[];
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'charts-'));
});
afterAll(() => rm(folder, { recursive: true }));

type Schema = { readonly properties: Readonly<Record<string, unknown>> };

/** What the schema of an app's values says of its config. */
const schemaOf = (chart: string) =>
  JSON.parse(readFileSync(join(deploy, 'charts', chart, 'values.schema.json'), 'utf8')) as {
    readonly properties: {
      readonly config: { readonly properties: Readonly<Record<string, Schema>> };
      readonly remotes: { readonly items: Schema };
    };
  };

const onlyRead = (account: object = {}) => ({ app: { enabled: false }, remoteAccount: { enabled: true, ...account } });
const metrics = { networkPolicy: { enabled: true } };
const monitoring = { prometheusOperator: { enabled: true }, dashboards: { enabled: false } };

const policy = (values: object, ...components: readonly string[]): Choice => ({
  chart: 'semaphore-policy',
  values,
  resources: ['policy/base'],
  components: components.map((component) => `policy/components/${component}`),
});
const mirror = (values: object, ...components: readonly string[]): Choice => ({
  chart: 'semaphore-service-mirror',
  values,
  resources: ['service-mirror/base'],
  components: components.map((component) => `service-mirror/components/${component}`),
});

const table: readonly Choice[] = [
  policy({}),
  policy({ calicoAPI: 'projectcalico.org' }, 'projectcalico-api'),
  policy({ calicoAPI: 'crd.projectcalico.org' }, 'crd-api'),
  policy({ admissionPolicies: false }, 'before-1.30'),
  policy({ metrics }, 'metrics-network-policy'),
  policy({ global: { monitoring } }, 'prometheus-operator'),
  policy({ networkPolicies: { enabled: true } }, 'network-policies'),
  policy({ networkPolicies: { enabled: true, sink: 'cilium' } }, 'network-policies', 'network-policies-cilium'),
  policy({ networkPolicies: { enabled: true, sink: 'calico' } }, 'network-policies', 'network-policies-calico'),
  policy(
    { networkPolicies: { enabled: true, sink: 'calico', calicoAPIServer: true } },
    'network-policies',
    'network-policies-calico',
    'network-policies-calico-api',
  ),
  { chart: 'semaphore-policy', values: onlyRead(), resources: ['policy/remote'] },
  {
    chart: 'semaphore-policy',
    values: onlyRead({ namespaces: true }),
    resources: ['policy/remote'],
    components: ['policy/components/remote-namespaces'],
  },
  mirror({}),
  mirror({ globalServices: true }, 'global'),
  mirror({ gateByTunnel: true }, 'gate-by-tunnel'),
  mirror({ admissionPolicies: false }, 'before-1.30'),
  mirror({ metrics }, 'metrics-network-policy'),
  mirror({ global: { monitoring } }, 'prometheus-operator'),
  { ...mirror({ mcs: { enabled: true } }, 'mcs'), resources: ['service-mirror/base', 'service-mirror/mcs'] },
  { ...mirror({ mirrorNameLength: true }), resources: ['service-mirror/base', 'service-mirror/admission'] },
  { ...mirror({ dns: { enabled: true } }), resources: ['service-mirror/base', 'dns/base'] },
  { chart: 'semaphore-service-mirror', values: onlyRead(), resources: ['service-mirror/remote'] },
  {
    chart: 'semaphore-service-mirror',
    values: { ...onlyRead(), mcs: { enabled: true } },
    resources: ['service-mirror/remote', 'service-mirror/mcs'],
    components: ['service-mirror/components/remote-mcs'],
  },
  { chart: 'semaphore-wireguard', resources: ['wireguard/base'] },
  {
    chart: 'semaphore-wireguard',
    values: { admissionPolicies: false },
    resources: ['wireguard/base'],
    components: ['wireguard/components/before-1.30'],
  },
  {
    chart: 'semaphore-wireguard',
    values: { global: { monitoring } },
    resources: ['wireguard/base'],
    components: ['wireguard/components/prometheus-operator'],
  },
  { chart: 'semaphore-wireguard', values: onlyRead(), resources: ['wireguard/remote'] },
  {
    chart: 'semaphore-wireguard',
    values: onlyRead({ calicoBlocks: true }),
    resources: ['wireguard/remote'],
    components: ['wireguard/components/calico-blocks'],
  },
  {
    chart: 'kube-semaphore',
    resources: ['policy', 'service-mirror', 'wireguard'].flatMap((app) => [`${app}/base`, `${app}/remote`]),
  },
];

describe.each(charts)('the chart %s', (chart) => {
  it('passes lint', async () => {
    const { stdout } = await helm(['lint', '--strict', chartFolder(chart)]);
    expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  it('has this version', () => {
    const text = readFileSync(join(chartFolder(chart), 'Chart.yaml'), 'utf8');
    const { dependencies = [], ...own } = parse(text) as { dependencies?: readonly { version: string }[] };
    expect(own).toMatchObject({ version, appVersion: version });
    expect(new Set(dependencies.map((each) => each.version))).toEqual(
      new Set(chart === 'kube-semaphore' ? [version] : []),
    );
  });

  it.each(table.filter((each) => each.chart === chart))(
    'has the objects of kustomize in $resources with $components, for $values',
    async ({ chart: _chart, values, ...kustomization }) => {
      const want = objectsIn(await kustomize(kustomization));
      expect(byName(await chartObjects(chart, values))).toEqual(byName(await released(want, chart)));
    },
  );
});

it('packs into one file without links, with the same objects', async () => {
  await helm(['package', chartFolder('kube-semaphore'), '--destination', folder]);
  const { stdout } = await helm(['template', 'kube-semaphore', join(folder, `kube-semaphore-${version}.tgz`)]);
  expect(byName(objectsIn(stdout))).toEqual(byName(await chartObjects('kube-semaphore')));
});

it('has a value for every folder of deploy/', () => {
  const chosen = table.flatMap(({ resources, components = [] }) => [...resources, ...components]);
  const folders = choices.flatMap(({ folder, components = [] }) => [folder, ...components]);
  const others = folders.filter((folder) => !chosen.includes(folder));
  // They follow below.
  expect(new Set(others)).toEqual(
    new Set([
      'overlays/example/c1',
      'overlays/example/c2',
      'wireguard/components/userspace',
      ...programs.map(({ name }) => `${name.replace('semaphore-', '')}/components/inventory`),
    ]),
  );
});

describe('an inventory', () => {
  const clusterProfiles = { namespace: 'fleet', providersFile: '/inventory/providers.json' };
  const values = {
    config: { remotesFrom: { clusterProfiles } },
    extraVolumes: [{ name: 'inventory', configMap: { name: 'plugins' } }],
    extraVolumeMounts: [{ name: 'inventory', mountPath: '/inventory' }],
  };

  it.each(programs)(
    'is read by $name with the rights of its component, also without other remotes',
    async ({ name }) => {
      const objects = await chartObjects(name as Chart, values);
      const app = name.replace('semaphore-', '');
      const rights = `${name}-inventory`;
      const want = objectsIn(
        await kustomize({ resources: [`${app}/base`], components: [`${app}/components/inventory`] }),
      );
      const named = (all: readonly KubeObject[]) => all.filter(({ metadata }) => metadata.name === rights);
      expect(byName(named(objects))).toEqual(byName(await released(named(want), name as Chart)));
      expect(named(objects)).toHaveLength(2);
      const { 'config.json': config } = only(objects, 'ConfigMap')['data'] as { 'config.json': string };
      expect(JSON.parse(config)).toMatchObject({ remotesFrom: { clusterProfiles } });
      const { template } = specOf(only(objects, name === 'semaphore-wireguard' ? 'DaemonSet' : 'Deployment'));
      expect(template.spec.volumes).toContainEqual(values.extraVolumes[0]);
      expect(template.spec.containers[0]!.volumeMounts).toContainEqual(values.extraVolumeMounts[0]);
    },
  );
});

describe('the chart of all apps', () => {
  const values = parse(docBlocks('helm.md', 'All apps', 'yaml')[0]!) as Readonly<Record<string, object>>;
  /** The registry of the page. */
  const images = ['policy', 'service-mirror', 'wireguard'].map((app) => ({
    name: `semaphore-${app}`,
    newName: `registry.example/semaphore/semaphore-${app}`,
  }));

  it('has the objects of the example, with the values of the page', async () => {
    const want = objectsIn(await kustomize({ resources: ['overlays/example/c1'], images }));
    expect(byName(await chartObjects('kube-semaphore', values))).toEqual(
      byName(await released(want, 'kube-semaphore')),
    );
  });

  it('has a wireguard-go for each remote, as the component has it', async () => {
    const userspace = { 'semaphore-wireguard': { ...values['semaphore-wireguard'], userspace: true } };
    const kustomization = {
      resources: ['overlays/example/c1'],
      components: ['wireguard/components/userspace'],
      images,
    };
    const want = (await kustomize(kustomization)).replace('name: wireguard-go\n', 'name: wireguard-go-c2\n');
    expect(byName(await chartObjects('kube-semaphore', { ...values, ...userspace }))).toEqual(
      byName(await released(objectsIn(want), 'kube-semaphore')),
    );
  });
});

describe('monitoring', () => {
  const dashboards = (namespace: string) => kustomize({ resources: ['../monitoring/dashboards'], namespace });
  const added = async (chart: Chart, values: object) => {
    const without = new Set((await chartObjects(chart)).map(({ kind, metadata }) => `${kind}/${metadata.name}`));
    const objects = await chartObjects(chart, { global: { monitoring: values } });
    return objects.filter(({ kind, metadata }) => !without.has(`${kind}/${metadata.name}`));
  };

  it('has the dashboards of kustomize', async () => {
    const want = objectsIn(await dashboards('monitoring'));
    expect(byName(await added('kube-semaphore', { dashboards: { enabled: true } }))).toEqual(byName(want));
  });

  it('has the dashboard of an app, where a sidecar finds it', async () => {
    const labels = { grafana_dashboard: 'yes' };
    const values = { dashboards: { enabled: true, namespace: 'grafana', labels } };
    const want = objectsIn(await dashboards('grafana')).filter(({ metadata }) => metadata.name.includes('wireguard'));
    expect(await added('semaphore-wireguard', values)).toEqual(
      want.map((each) => ({ ...each, metadata: { ...each.metadata, labels } })),
    );
  });

  it('has the labels that a Prometheus selects, as the overlay of the page', async () => {
    const labels = { release: 'kube-prometheus-stack' };
    const objects = await added('semaphore-policy', { prometheusOperator: { enabled: true, labels } });
    const page = parse(docBlocks('../monitoring/README.md', 'Into Prometheus', 'yaml')[0]!) as { patches: unknown };
    const { patches } = page;
    const [resources, components] = [['policy/base'], ['policy/components/prometheus-operator']];
    const want = objectsIn(await kustomize({ resources, components, patches }));
    const isOfOperator = ({ apiVersion }: KubeObject): boolean => apiVersion.startsWith('monitoring.coreos.com/');
    expect(byName(objects)).toEqual(byName(await released(want.filter(isOfOperator), 'semaphore-policy')));
  });
});

describe('values', () => {
  it.each<{ chart: Chart; name: string; values: object; words: string }>([
    { chart: 'semaphore-policy', name: 'a misspelt key', values: { replica: 3 }, words: "'replica' not allowed" },
    {
      chart: 'semaphore-policy',
      name: 'a misspelt key of a remote',
      values: { remotes: [{ name: 'c2', remoteApiURL: 'https://c2' }] },
      words: "'remoteApiURL' not allowed",
    },
    {
      chart: 'semaphore-service-mirror',
      name: 'a misspelt key of the config',
      values: { config: { global: { mirrorNamespaces: 'x' } } },
      words: "'mirrorNamespaces' not allowed",
    },
    {
      chart: 'semaphore-wireguard',
      name: 'a remote without a name',
      values: { remotes: [{ podSubnet: '10.4.0.0/16' }] },
      words: "missing property 'name'",
    },
    { chart: 'kube-semaphore', name: 'an unknown app', values: { policy: {} }, words: "'policy' not allowed" },
    {
      chart: 'kube-semaphore',
      name: 'a misspelt key of an app',
      values: { 'semaphore-wireguard': { userSpace: true } },
      words: "'userSpace' not allowed",
    },
    {
      chart: 'kube-semaphore',
      name: 'a misspelt key of a remote of all apps',
      values: { global: { remotes: [{ name: 'c2', podCIDRs: [] }] } },
      words: "'podCIDRs' not allowed",
    },
  ])('are refused with $name, of $chart', async ({ chart, values, words }) => {
    await expect(chartObjects(chart, values)).rejects.toThrow(words);
  });

  it.each(programs)('of the config have only fields that $name knows', async ({ name, configVariable }) => {
    const { config, remotes } = schemaOf(name).properties;
    const list = name === 'semaphore-service-mirror' ? 'remoteClusters' : 'remotes';
    const sections = { ...config.properties, [list]: remotes.items };
    const keys = Object.values(sections)
      .flatMap(({ properties }) => Object.keys(properties))
      .filter((key) => key !== 'secretName');
    // For a misspelt key, it names the one that it knows.
    const misspelt = Object.entries(sections).map(([key, { properties }]) => {
      const section = Object.fromEntries(Object.keys(properties).map((each) => [`${each}x`, '']));
      return [key, key === list ? [section] : section];
    });
    const file = join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify(Object.fromEntries(misspelt)));
    const complaints = (await planErrors(name, { [configVariable]: file, SWG_NODE_NAME: 'n1' })).join('\n');
    expect(keys.filter((key) => !complaints.includes(`unknown key ${key}x, did you mean ${key}?`))).toEqual([]);
  });

  it('set variables, flags, image, replicas, resources, Secrets and the quota', async () => {
    const objects = await chartObjects('semaphore-service-mirror', {
      image: { repository: 'r.example/mirror', tag: '1', pullPolicy: 'Always' },
      imagePullSecrets: [{ name: 'pull' }],
      replicas: 3,
      resources: { limits: { memory: '768Mi' } },
      env: { SSM_LOG_LEVEL: 'debug', SSM_CONFIG: '/elsewhere' },
      args: ['-max-remote-mib=200'],
      maxServices: 2_000_000,
      remotes: [
        { name: 'c2', secretName: 'mine', remoteAPIURL: 'https://c2' },
        { name: 'c3', kubeConfigPath: '/etc/kube-semaphore/remotes/c3/kubeconfig' },
      ],
    });
    const { replicas, template } = specOf(only(objects, 'Deployment'));
    expect(replicas).toBe(3);
    expect(template.spec).toMatchObject({ imagePullSecrets: [{ name: 'pull' }] });
    expect(template.spec.volumes).toContainEqual({ name: 'remote-c2', secret: { secretName: 'mine' } });
    const [container] = template.spec.containers;
    expect(container).toMatchObject({
      image: 'r.example/mirror:1',
      imagePullPolicy: 'Always',
      args: ['-leader-elect', '-max-remote-mib=200'],
      resources: { limits: { memory: '768Mi' } },
    });
    expect(container.env).toEqual([
      { name: 'SSM_CONFIG', value: '/elsewhere' },
      { name: 'SSM_LOG_LEVEL', value: 'debug' },
    ]);
    const { 'config.json': config } = only(objects, 'ConfigMap')['data'] as { 'config.json': string };
    expect(JSON.parse(config)).toMatchObject({
      remoteClusters: [
        {
          name: 'c2',
          servicePrefix: 'c2',
          remoteAPIURL: 'https://c2',
          remoteCAURL: 'file:///etc/kube-semaphore/remotes/c2/ca.crt',
          remoteSATokenPath: '/etc/kube-semaphore/remotes/c2/token',
        },
        { name: 'c3', servicePrefix: 'c3', kubeConfigPath: '/etc/kube-semaphore/remotes/c3/kubeconfig' },
      ],
    });
    expect(config).not.toContain('secretName');
    expect(objects).toContainEqual(expect.objectContaining({ spec: { hard: { 'count/services': '2000000' } } }));
  });

  it('leave out Secrets, kinds of others, and apps', async () => {
    const kinds = async (values: object) =>
      new Set((await chartObjects('kube-semaphore', values)).map(({ kind }) => kind));
    expect(await kinds({})).toContain('Secret');
    const remoteAccount = { token: false };
    const without = { 'semaphore-policy': { enabled: false }, 'semaphore-wireguard': { enabled: false } };
    const mcs = { enabled: true, crds: false };
    const left = await kinds({ ...without, 'semaphore-service-mirror': { remoteAccount, mcs } });
    for (const kind of ['Secret', 'CustomResourceDefinition', 'DaemonSet']) expect(left).not.toContain(kind);
    expect(left).toContain('Deployment');
  });
});
