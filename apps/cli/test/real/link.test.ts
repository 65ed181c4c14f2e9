// Real: controllers fill Secrets with tokens and namespaces with CAs, and kubectl applies what was written.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import {
  bash,
  byName,
  calicoApiCrds,
  chartFolder,
  chartObjects,
  docBlocks,
  helm,
  kubectlFolder,
  node,
  type RealCluster,
  released,
  service,
  startRealCluster,
} from '@kube-semaphore/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { corefiles, nodeLocal } from '../support/corefiles.ts';
import { afterContexts, runHere } from '../support/run.ts';

const ranges = { c1: '10.2.0.0/16', c2: '10.4.0.0/16', c3: '10.6.0.0/16' } as const;
const services = { c1: '10.3.0.0/16', c2: '10.5.0.0/16', c3: '10.7.0.0/16' } as const;
type Name = keyof typeof ranges;
const all: readonly Name[] = ['c1', 'c2', 'c3'];

/** Those that are linked most of the time. */
const names = ['c1', 'c2'] as const;
const others = { c1: 'c2', c2: 'c1' } as const;

/** In c2, the block that gets names of remotes doesn't serve those of the cluster. In c3, NodeLocal DNSCache comes first. */
const corefileOf = {
  c1: corefiles.kubeadm,
  c2: corefiles['a zone in each server block'],
  c3: corefiles.snippets,
} as const;

const COREDNS = '/api/v1/namespaces/kube-system/configmaps/coredns';
const NODE_LOCAL = '/api/v1/namespaces/kube-system/configmaps/node-local-dns';

const clusters = {} as Record<Name, RealCluster>;
const before = {} as Record<Name, Readonly<Record<string, unknown>>>;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'semaphore-link-'));
  await Promise.all(
    all.map(async (name) => {
      const cluster = await startRealCluster({
        name,
        controllerManager: [
          'serviceaccount-token-controller',
          'root-ca-certificate-publisher-controller',
          'namespace-controller',
        ],
        apiserverFlags: { 'service-cluster-ip-range': services[name] },
      });
      clusters[name] = cluster;
      for (const crd of calicoApiCrds()) await cluster.defineResource(crd);
      await cluster.admin.create('/apis/projectcalico.org/v3/ippools', {
        apiVersion: 'projectcalico.org/v3',
        kind: 'IPPool',
        metadata: { name: 'default-ipv4-ippool' },
        spec: { cidr: ranges[name] },
      });
      const podCIDRs = [ranges[name].replace('0.0/16', '1.0/24')];
      await cluster.admin.create('/api/v1/nodes', node({ name: `${name}-n1`, podCIDRs, internalIPs: ['172.18.0.9'] }));
      await cluster.admin.create('/api/v1/namespaces/kube-system/configmaps', {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'coredns' },
        data: { Corefile: corefileOf[name] },
      });
      if (name === 'c3')
        await cluster.admin.create('/api/v1/namespaces/kube-system/configmaps', {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'node-local-dns' },
          data: { Corefile: nodeLocal },
        });
      const dns = { name: 'coredns', image: 'registry.k8s.io/coredns/coredns:v1.12.2' };
      const labels = { 'k8s-app': 'kube-dns' };
      await cluster.admin.create('/apis/apps/v1/namespaces/kube-system/deployments', {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: dns.name },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [dns] } } },
      });
      // Controllers need a moment.
      await eventually(
        async () => Object.keys(await objectsIn(name)).filter((key) => key.includes('kube-root-ca.crt')).length,
        4,
      );
      before[name] = await objectsIn(name);
    }),
  );
});
afterAll(async () => {
  await Promise.all(Object.values(clusters).map((cluster) => cluster.stop()));
  await rm(folder, { recursive: true });
});

async function semaphore(...argv: readonly string[]) {
  const KUBECONFIG = all.map((name) => clusters[name].adminKubeconfig).join(delimiter);
  const PATH = [kubectlFolder, process.env['PATH']].join(delimiter);
  return afterContexts(await runHere({ KUBECONFIG, PATH }, ...argv));
}

const answersOf = (linked: readonly Name[]): readonly string[] =>
  linked.flatMap((name) => [`--context=${name}`, `--server=${name}=https://api.${name}.example:6443`]);

const linkAll = (linked: readonly Name[], ...flags: readonly string[]) =>
  semaphore('link', ...answersOf(linked), '--apply', '--diff', ...flags);

/** A folder takes the place of another one. */
const instead = names.map((name) => `--cluster-name=${name}=${name}`);

const link = (output = folder, ...flags: readonly string[]) => linkAll(names, '-o', output, ...flags);

/** All objects of a cluster by their names, as far as people write them. */
async function objectsIn(name: Name): Promise<Readonly<Record<string, unknown>>> {
  const { admin } = clusters[name];
  const read = async (path: string) => (await admin.request('GET', path)).body as Readonly<Record<string, unknown>>;
  const groups = (await read('/apis'))['groups'] as readonly { preferredVersion: { groupVersion: string } }[];
  const roots = ['/api/v1', ...groups.map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`)];
  const found: Record<string, unknown> = {};
  for (const root of roots) {
    const resources = (await read(root))['resources'] as readonly { name: string; kind: string; verbs: string[] }[];
    for (const { name: plural, kind, verbs } of resources) {
      if (!verbs.includes('list') || ['Event', 'Lease', 'APIService', 'ComponentStatus'].includes(kind)) continue;
      for (const { metadata, status: _, ...rest } of await admin.list(`${root}/${plural}`)) {
        const { namespace = '', labels = {}, annotations = {} } = metadata;
        found[`${root} ${kind} ${namespace}/${metadata.name}`] = { ...rest, labels, annotations };
      }
    }
  }
  return found;
}

const tokenIn = async (name: Name, namespace: string, secret: string): Promise<string> => {
  const { data } = await clusters[name].admin.get(`/api/v1/namespaces/${namespace}/secrets/${secret}`);
  return Buffer.from((data as { token: string }).token, 'base64').toString();
};

async function textIn(path: string): Promise<string> {
  const files = (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  return (await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'utf8')))).join('\n');
}

it.each([
  { page: 'link.md', heading: 'semaphore link', flags: [] },
  { page: 'getting-started.md', heading: 'The link', flags: ['--network-policies'] },
])('says in a few lines what changes, as $page shows', async ({ page, heading, flags }) => {
  const output = join(folder, page);
  const { stdout } = await semaphore('link', ...answersOf(names), '-o', output, ...flags);
  // Before it, what was found.
  const lines = stdout.slice(stdout.indexOf('\n\n') + 2).split('\n');
  expect(Math.max(...lines.slice(0, -2).map(({ length }) => length))).toBeLessThanOrEqual(80);
  // A longer path may be in a line of its own.
  const asWords = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  const planned = asWords(lines.join('\n').replaceAll(output, 'deploy/overlays/mine'));
  const applied = planned.replaceAll('to create', 'created').replaceAll('to change', 'changed');
  const [shown = ''] = docBlocks(page, heading, 'text');
  expect([planned, applied.slice(0, asWords(shown).length)]).toContain(asWords(shown));
});

/** What a run in JSON says of objects. */
const changesIn = (stdout: string) =>
  (
    JSON.parse(stdout) as { clusters: readonly { objects: readonly { name: string; change: string }[] }[] }
  ).clusters.map(({ objects }) => objects.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)));

it('applies all that two clusters need, writes no token to a file or a terminal, and then nothing more', async () => {
  const nothing = await Promise.all(names.map(objectsIn));
  const planned = await semaphore('link', ...answersOf(names), '-o', folder, '--format=json');
  expect(planned).toMatchObject({ code: 0, stderr: '' });
  expect(await Promise.all(names.map(objectsIn))).toEqual(nothing);
  const first = await link(folder, '--format=json');
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(changesIn(first.stdout)).toEqual(changesIn(planned.stdout));
  expect(changesIn(first.stdout)[0]!.filter(({ change }) => change !== 'unchanged').length).toBeGreaterThan(50);
  for (const [reader, read] of [
    ['c1', 'c2'],
    ['c2', 'c1'],
  ] as const) {
    const { admin } = clusters[reader];
    await admin.get('/apis/apps/v1/namespaces/kube-system/deployments/semaphore-policy');
    await admin.get('/apis/apps/v1/namespaces/sys-semaphore/deployments/semaphore-service-mirror');
    await admin.get('/apis/apps/v1/namespaces/kube-system/daemonsets/semaphore-wireguard');
    await admin.get(`/apis/projectcalico.org/v3/ippools/remote-${read}`);
    // Each token reads what its app needs of the other cluster, and no more.
    for (const { namespace, app, path } of [
      { namespace: 'kube-system', app: 'semaphore-policy', path: '/api/v1/pods' },
      { namespace: 'sys-semaphore', app: 'semaphore-service-mirror', path: '/api/v1/services' },
      { namespace: 'kube-system', app: 'semaphore-wireguard', path: '/api/v1/nodes' },
    ]) {
      const token = await tokenIn(reader, namespace, `${app}-${read}`);
      const client = clusters[read].clientFor(token);
      expect((await client.request('GET', path)).status).toBe(200);
      expect((await client.request('GET', '/api/v1/secrets')).status).toBe(403);
      expect(`${first.stdout}${first.stderr}${await textIn(folder)}`).not.toContain(token.slice(-20));
    }
    const { data } = await admin.get(COREDNS);
    expect((data as { Corefile: string }).Corefile).toContain(`cluster\\.${read}\\.$ {3}${read}-{2}-73736d-{1}.`);
  }

  const second = await link();
  expect(second).toMatchObject({ code: 0, stderr: '' });
  expect(second.stdout).toMatch(/^c1: Deployment kube-system\/semaphore-policy unchanged$/m);
  expect(second.stdout).not.toMatch(/ (?:created|changed)$/m);
  for (const flags of [[], ['--apply']]) {
    const { stdout } = await semaphore('link', ...names.map((name) => `--context=${name}`), '-o', folder, ...flags);
    expect(stdout).toBe(
      'c1: nothing changes\nc2: nothing changes\nnow: semaphore check --context c1 --context c2 --wait 5m\n',
    );
  }
});

it('plans what it then does, also to objects that are there', async () => {
  const flags = ['--network-policies', '--mcs', '--bound-tokens=1h'];
  const lost = join(folder, 'planned/c1');
  const refused = await semaphore('link', ...answersOf(names), '-o', join(folder, 'planned'));
  expect([refused.code, refused.stderr.split('\n')[0]]).toEqual([
    1,
    `semaphore: c1: it is linked, but ${lost} has no overlay: set -o to the folder of the last link; or if that is lost, ` +
      'set --cluster-name c1=c1',
  ]);
  const planned = await semaphore(
    'link',
    ...answersOf(names),
    '-o',
    join(folder, 'planned'),
    '--format=json',
    ...flags,
    ...instead,
  );
  const applied = await link(join(folder, 'planned'), '--format=json');
  expect(changesIn(applied.stdout)).toEqual(changesIn(planned.stdout));
  const [c1 = []] = changesIn(applied.stdout);
  expect(new Set(c1.map(({ change }) => change))).toEqual(new Set(['created', 'changed', 'unchanged']));
  // Back to what the folder of the other tests has.
  expect(await link()).toMatchObject({ code: 0, stderr: '' });
});

it('applies nothing if it can not add names to CoreDNS, and only these later', async () => {
  await clusters.c2.admin.request(
    'PATCH',
    COREDNS,
    { data: { Corefile: '.:53 {\n    whoami\n}\n' } },
    { contentType: 'application/merge-patch+json' },
  );
  const { code, stdout, stderr } = await link();
  expect(stdout).not.toMatch(/ (?:created|changed|unchanged)$/m);
  expect([code, stderr]).toEqual([
    1,
    'semaphore: c2: ConfigMap kube-system/coredns: no "kubernetes" serves the names of the cluster. ' +
      'Correct that, or add the rules of docs/service-mirror.md by hand, and use --no-coredns\n',
  ]);
  await clusters.c2.admin.request(
    'PATCH',
    COREDNS,
    { data: { Corefile: corefileOf.c2 } },
    { contentType: 'application/merge-patch+json' },
  );
  expect((await link()).stdout.match(/^.* changed$/gm)).toEqual(['c2: ConfigMap kube-system/coredns changed']);
});

/** When a token is valid, in seconds since the epoch. */
type Life = { readonly iat: number; readonly exp: number };

it('replaces the tokens by some that end, when half of their time is over or at once', async () => {
  const bound = join(folder, 'bound');
  const tokens = () =>
    Promise.all(names.map((name) => tokenIn(name, 'kube-system', `semaphore-policy-${others[name]}`)));
  const before = await tokens();
  const { code, stdout, stderr } = await link(bound, '--bound-tokens=1h', ...instead);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^c1: Secrets in kube-system have tokens that do not end: semaphore-policy-watcher, (?:semaphore-\S+, ){2}\S+: delete them/m,
  );
  const first = await tokens();
  for (const token of first) {
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as Life;
    expect(exp - iat).toBe(3_600);
  }
  expect((await clusters.c2.clientFor(first[0]!).request('GET', '/api/v1/pods')).status).toBe(200);
  expect(await textIn(bound)).not.toContain(first[0]!.slice(-20));

  // These have more than half of 1h, but not of 4h.
  expect((await link(bound, '--bound-tokens=1h')).stdout).not.toMatch(/ changed$/m);
  expect(await tokens()).toEqual(first);
  await link(bound, '--bound-tokens=4h');
  const second = await tokens();
  expect(second).not.toEqual(first);

  const renewed = await link(bound, '--bound-tokens=4h', '--renew');
  expect(renewed.stdout.match(/^c1: .* changed$/gm)).toEqual([
    'c1: Secret kube-system/semaphore-policy-c2 changed',
    'c1: Secret sys-semaphore/semaphore-service-mirror-c2 changed',
    'c1: Secret kube-system/semaphore-wireguard-c2 changed',
  ]);
  expect(new Set([...before, ...first, ...second, ...(await tokens())]).size).toBe(8);
});

const SETS = '/apis/projectcalico.org/v3/globalnetworksets';
const EXPORTS = '/apis/multicluster.x-k8s.io/v1beta1';
const MIRRORS = '/api/v1/namespaces/sys-semaphore/services';

/** What the apps of c1 write for a remote. */
async function writeAsApps(remote: string): Promise<void> {
  const { admin } = clusters.c1;
  const labels = {
    'managed-by': 'semaphore-policy',
    'policy.semaphore.uw.io/name': 'web',
    'policy.semaphore.uw.io/namespace': 'shop',
    'policy.semaphore.uw.io/cluster': remote,
  };
  await admin.create(SETS, {
    apiVersion: 'projectcalico.org/v3',
    kind: 'GlobalNetworkSet',
    metadata: { name: `${remote}-shop-web`, labels },
    spec: { nets: ['10.9.0.1/32'] },
  });
  const mirror = service({
    namespace: 'sys-semaphore',
    name: `${remote}-shop-73736d-web`,
    selector: null,
    labels: { 'mirrored-svc': 'true', 'mirror-svc-prefix-sync': remote },
    annotations: { 'mirror-svc-source': `${remote}/shop/web` },
  });
  await admin.create(MIRRORS, mirror);
  const annotations = { [`${remote}.wireguard.semaphore.uw.io/pubKey`]: 'key' };
  const patch = { metadata: { annotations } };
  await admin.request('PATCH', '/api/v1/nodes/c1-n1', patch, { contentType: 'application/merge-patch+json' });
}

it('leaves nothing behind when one of three clusters leaves, and then the others', async () => {
  const mesh = join(folder, 'mesh');
  expect((await linkAll(all, '-o', mesh, '--mcs', ...instead)).stderr).toBe('');
  const zones = 'svc.cluster.c1:53 svc.cluster.c2:53 svc.clusterset.local:53 svc.cluster.global:53';
  expect((await clusters.c3.admin.get(NODE_LOCAL))['data']).toMatchObject({
    Corefile: expect.stringContaining(`\n${zones} {\n`) as unknown,
  });
  // Another program exports a Service, which c2 may read.
  const { metadata: owner } = await clusters.c1.admin.get('/api/v1/namespaces/default/configmaps/kube-root-ca.crt');
  await clusters.c1.admin.create(`${EXPORTS}/namespaces/default/serviceexports`, {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: {
      name: 'checkout',
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: owner.name, uid: owner.uid }],
    },
  });
  const reader = clusters.c1.clientFor(await tokenIn('c2', 'sys-semaphore', 'semaphore-service-mirror-c1'));
  expect((await reader.request('GET', `${EXPORTS}/serviceexports`)).status).toBe(200);
  // API servers need a moment for new kinds.
  for (const { admin } of Object.values(clusters))
    await eventually(async () => (await admin.request('GET', `${EXPORTS}/serviceimports`)).status, 200);
  for (const remote of ['c2', 'c3']) await writeAsApps(remote);
  await clusters.c1.admin.create(SETS, {
    apiVersion: 'projectcalico.org/v3',
    kind: 'GlobalNetworkSet',
    metadata: { name: 'c3-mine', labels: { 'policy.semaphore.uw.io/cluster': 'c3' } },
    spec: { nets: [] },
  });

  // c3 isn't reached any more.
  const leave = ['unlink', '--context=c1', '--context=c2', '--leaving=c3', '-o', mesh, '--apply'];
  const left = await semaphore(...leave);
  expect([left.code, left.stderr]).toEqual([0, '']);
  const c1 = Object.keys(await objectsIn('c1'));
  expect(c1.filter((name) => /c3(?!-mine)/.test(name))).toEqual([]);
  expect(c1).toEqual(
    expect.arrayContaining([
      '/api/v1 Secret kube-system/semaphore-policy-c2',
      '/api/v1 Service sys-semaphore/c2-shop-73736d-web',
      '/apis/apps/v1 DaemonSet kube-system/semaphore-wireguard',
      '/apis/projectcalico.org/v3 GlobalNetworkSet /c2-shop-web',
      '/apis/projectcalico.org/v3 GlobalNetworkSet /c3-mine',
      '/apis/projectcalico.org/v3 IPPool /remote-c2',
    ]),
  );
  expect(/\bc3\b/.test(await textIn(join(mesh, 'c1')))).toBe(false);
  expect((await clusters.c1.admin.get(COREDNS))['data']).toMatchObject({
    Corefile: expect.stringContaining('multicluster clusterset.local') as unknown,
  });
  const again = await semaphore(...leave);
  expect([again.code, again.stdout]).toEqual([0, `${mesh}/c1: nothing changes\n${mesh}/c2: nothing changes\n`]);

  const rest = await semaphore('unlink', '--context=c1', '--context=c2', '-o', mesh, '--apply');
  expect([rest.code, rest.stderr]).toEqual([0, '']);
  expect(await readdir(mesh)).toEqual(['c3']);
  const definition = 'serviceexports.multicluster.x-k8s.io';
  expect(rest.stdout.match(/^.* stays: .*$/gm)).toEqual([
    `c1: CustomResourceDefinition ${definition} stays: it has ServiceExport default/checkout`,
  ]);
  await clusters.c1.admin.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definition}`);
  // c3 forgets the others, too.
  expect(await semaphore('unlink', '--context=c3', '--leaving=c3', '-o', mesh, '--apply')).toMatchObject({
    code: 0,
    stderr: '',
  });
  await clusters.c1.admin.delete(`${SETS}/c3-mine`);
  for (const name of all) await eventually(() => objectsIn(name), before[name]!);
  expect(await semaphore('unlink', '--context=c1', '--context=c2', '-o', mesh, '--apply')).toMatchObject({
    code: 0,
    stderr: '',
  });
});

it.each([
  { name: 'no flags', flags: [] },
  {
    name: 'all choices',
    flags: [
      '--mcs',
      '--userspace',
      '--network-policies',
      '--bound-tokens=24h',
      '--registry=r.example/s',
      '--families=ipv4',
    ],
  },
  { name: 'few choices', flags: ['--no-wireguard', '--no-coredns'] },
])('writes values with which Helm makes the objects of the overlay, with $name', async ({ flags }) => {
  const output = await mkdtemp(join(folder, 'values-'));
  const linked = await semaphore('link', ...answersOf(all), '-o', output, '--helm', ...flags);
  expect([linked.code, linked.stderr]).toEqual([0, '']);
  for (const name of all) {
    const { stdout } = await bash(`kubectl kustomize ${join(output, name)}`, clusters[name]);
    const overlay = parseAllDocuments(stdout).map((document) => document.toJS() as KubeObject);
    const values = parse(await readFile(join(output, name, 'values.yaml'), 'utf8')) as Values;
    const wanted = byName(await released(overlay, 'kube-semaphore'));
    expect(byName(await chartObjects('kube-semaphore', values))).toEqual(wanted);
    expect(byName(await chartObjects('kube-semaphore', inOnePlace(values)))).toEqual(wanted);
  }
});

type AppValues = { readonly config?: object; readonly remotes?: readonly { readonly name: string }[] };
type Values = Readonly<Record<`semaphore-${'policy' | 'service-mirror' | 'wireguard'}`, AppValues>> & {
  readonly global?: object;
};

/** What all apps have of the clusters, where a user of the chart writes it once: docs/helm.md. */
function inOnePlace(values: Values): object {
  const { 'semaphore-policy': policy, 'semaphore-service-mirror': mirror, 'semaphore-wireguard': wireguard } = values;
  const { localCluster, ...config } = mirror.config as { readonly localCluster: object };
  const without = (remotes: AppValues['remotes'] = [], ...fields: readonly string[]) =>
    remotes.map((remote) => Object.fromEntries(Object.entries(remote).filter(([field]) => !fields.includes(field))));
  const credentials = ['remoteCAURL', 'remoteSATokenPath'];
  const shared = [...credentials, 'remoteAPIURL', 'families', 'allowedPodCIDRs', 'allowedEndpointCIDRs', 'podSubnet'];
  const nodes = new Map(wireguard.remotes?.map((remote) => [remote.name, remote]));
  const remotes = without(mirror.remotes, ...credentials, 'servicePrefix').map((remote) => {
    const { allowedEndpointCIDRs } = { ...nodes.get(remote['name'] as string) } as { allowedEndpointCIDRs?: unknown };
    return { ...remote, ...(allowedEndpointCIDRs !== undefined && { allowedEndpointCIDRs }) };
  });
  return {
    ...values,
    global: { ...values.global, cluster: localCluster, remotes },
    'semaphore-policy': { ...policy, config: {}, remotes: [] },
    'semaphore-service-mirror': { ...mirror, config, remotes: [] },
    'semaphore-wireguard': { ...wireguard, config: {}, remotes: without(wireguard.remotes, ...shared) },
  };
}

it('leaves all but tokens and names to Helm', async () => {
  const mesh = await mkdtemp(join(folder, 'helm-'));
  const args = [...answersOf(names), '-o', mesh];
  const planned = await semaphore('link', ...args, '--helm');
  for (const name of names) {
    const command = `helm upgrade --install kube-semaphore deploy/charts/kube-semaphore --namespace kube-system --kube-context ${name}`;
    expect(planned.stdout).toContain(
      `${name}: Helm installs the apps: ${command} --values ${mesh}/${name}/values.yaml\n`,
    );
  }
  for (const name of names) {
    const words = ['kube-semaphore', chartFolder('kube-semaphore'), '--namespace=kube-system'];
    const kubeconfig = clusters[name].adminKubeconfig;
    await helm(['upgrade', '--install', ...words, `--values=${mesh}/${name}/values.yaml`], { kubeconfig });
  }
  const installed = await objectsIn('c1');
  const applied = await semaphore('link', ...args, '--apply');
  expect([applied.code, applied.stderr]).toEqual([0, '']);
  const after = await objectsIn('c1');
  const changed = Object.keys(after).filter((key) => JSON.stringify(after[key]) !== JSON.stringify(installed[key]));
  expect(changed.toSorted()).toEqual([
    '/api/v1 ConfigMap kube-system/coredns',
    '/api/v1 Secret kube-system/semaphore-policy-c2',
    '/api/v1 Secret kube-system/semaphore-wireguard-c2',
    '/api/v1 Secret sys-semaphore/semaphore-service-mirror-c2',
  ]);
  expect((await semaphore('link', ...args, '--apply')).stdout).toContain('c1: nothing changes\n');

  // It waits for Pods with the old remotes; here are none.
  const unlinked = await semaphore('unlink', '--context=c1', '--context=c2', '-o', mesh, '--apply');
  expect([unlinked.code, unlinked.stderr]).toEqual([0, '']);
  expect(unlinked.stdout).toContain('c1: waiting for Helm: uninstall its release\n');
  expect(await readdir(mesh)).toEqual([]);
  const left = Object.keys(await objectsIn('c1'));
  expect(left).toContain('/apis/apps/v1 DaemonSet kube-system/semaphore-wireguard');
  expect(left.filter((key) => key.endsWith('-c2'))).toEqual([]);
});
