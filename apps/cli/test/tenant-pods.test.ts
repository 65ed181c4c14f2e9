import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { contextsOf } from '../src/clusters/contexts.ts';
import { awaitApps } from '../src/unlink/apps.ts';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { policyPage } from './support/pages.ts';
import { afterContexts, runHere } from './support/run.ts';

const labels = { app: 'semaphore-policy' };

const pod = (namespace: string, name: string, serviceAccountName?: string) => ({
  metadata: { namespace, name, labels },
  spec: {
    nodeName: 'n1',
    serviceAccountName,
    containers: [{ image: 'registry.example/tenant', ports: [{ name: 'http', containerPort: 8080 }] }],
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

/** As those of a tenant: all in `default`, and of a Deployment that is never complete. */
const tenants = Array.from({ length: 64 }, (_, i) => pod('default', `policy-${i}`, 'semaphore-policy'));

const workload = (namespace: string, own: Readonly<Record<string, string>> = labels) => ({
  metadata: { namespace, name: Object.values(own).join(), labels: own },
  spec: { replicas: 1, template: { spec: { serviceAccountName: Object.values(own).join() } } },
  status: namespace === 'default' ? {} : { replicas: 1 },
});

/** By which the Deployments of other meshes are found. */
const ofMeshes: readonly Readonly<Record<string, string>>[] = [
  { 'k8s-app': 'clustermesh-apiserver' },
  { app: 'submariner-lighthouse-agent' },
];

const list = (apiVersion: string, kind: string, items: readonly object[]) => ({
  apiVersion,
  kind: `${kind}List`,
  metadata: { resourceVersion: '1' },
  items,
});

const apps = 'app in (semaphore-policy,semaphore-service-mirror,semaphore-wireguard)';

/** A kubeconfig of c1 and c2, which only differ in their names. */
async function clusters({
  own = [pod('kube-system', 'policy-own')],
  others = tenants,
  bindings = [],
  meshesIn = 'default',
}: {
  readonly own?: readonly object[];
  readonly others?: readonly object[];
  readonly bindings?: readonly object[];
  /** Where other meshes seem to be. */
  readonly meshesIn?: string;
} = {}): Promise<string> {
  const server = await startApiServer({
    pods: [{ app: 'semaphore-policy', name: 'policy-own', status: () => policyPage() }],
    objects: {
      '/version': { major: '1', minor: '34' },
      [`/api/v1/pods?${apps}`]: list('v1', 'Pod', [...others, ...own]),
      '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings': list(
        'rbac.authorization.k8s.io/v1',
        'ClusterRoleBinding',
        bindings,
      ),
      [`/apis/apps/v1/deployments?${apps}`]: list('apps/v1', 'Deployment', [
        workload('kube-system'),
        workload('default'),
      ]),
      ...Object.fromEntries(
        ofMeshes.map((own) => [
          `/apis/apps/v1/deployments?${Object.entries(own).join().replace(',', '=')}`,
          list('apps/v1', 'Deployment', [workload(meshesIn, own)]),
        ]),
      ),
      '/api/v1/namespaces/kube-system/pods/policy-own/log': 'our log',
      ...Object.fromEntries(
        tenants.map(({ metadata: { name } }) => [`/api/v1/namespaces/default/pods/${name}/log`, 'the log of a tenant']),
      ),
    },
  });
  return kubeconfigOf({ c1: server, c2: server }, 'c1');
}

const skipped =
  'these Pods have the label of an app, but are not ours: "default/policy-0", "default/policy-1", "default/policy-10" ' +
  'and 61 more. They are skipped.';

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'semaphore-tenant-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

it('status asks only our Pods, and names a few of the others in one line', async () => {
  const { code, stdout, stderr } = await runHere({}, 'status', '--kubeconfig', await clusters());
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout.trimEnd().split('\n');
  expect([lines[1], lines.at(-1)]).toEqual([
    'c1       semaphore-policy  0.1.0    1/1    policy-own',
    `! c1: ${skipped}`,
  ]);
  const json = await runHere({}, 'status', '--kubeconfig', await clusters(), '-o', 'json');
  const [cluster] = (JSON.parse(json.stdout) as { clusters: readonly { leftOut: string; pods: object[] }[] }).clusters;
  expect([cluster?.leftOut, cluster?.pods.length]).toEqual([`c1: ${skipped}`, 1]);
});

it('status asks Pods where an overlay moved the app, if a ClusterRoleBinding says so', async () => {
  const moved = { own: [], others: [pod('elsewhere', 'policy-0', 'moved')] };
  const binding = {
    metadata: { name: 'b', labels: { 'semaphore.uw.io/account': 'semaphore-policy' } },
    roleRef: { kind: 'ClusterRole', name: 'moved' },
    subjects: [{ kind: 'ServiceAccount', namespace: 'elsewhere', name: 'moved' }],
  };
  const status = async (bindings: readonly object[]): Promise<string> =>
    (await runHere({}, 'status', '--kubeconfig', await clusters({ ...moved, bindings }))).stdout;
  expect(await status([binding])).toContain("✗ Pods don't report their status: in c1 (policy): ");
  expect(await status([])).toContain('✗ c1: no Pod of an app was found: ');
});

/** The findings of each check. */
async function check(kubeconfig: string): Promise<Readonly<Record<string, readonly object[]>>> {
  const { stdout } = await runHere({}, 'check', '--kubeconfig', kubeconfig, '-o', 'json');
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly { name: string; findings: object[] }[] };
  return Object.fromEntries(checks.map(({ name, findings }) => [name, findings]));
}

it('check warns of them, and takes nothing else from them', async () => {
  expect(await check(await clusters())).toMatchObject({
    'pods-ours': [{ severity: 'warning', detail: `c1: ${skipped}` }],
    'pods-ready': [],
    'status-served': [],
    'one-leader': [],
    'pods-complete': [],
    'other-meshes': [],
  });
});

const account = (name: string) => ({
  metadata: { name },
  roleRef: { kind: 'ClusterRole', name },
  subjects: [{ kind: 'ServiceAccount', namespace: 'elsewhere', name }],
});

it.each([
  { where: 'in a namespace without tenants', meshesIn: 'kube-system', bindings: [], count: 2 },
  {
    where: 'with an account that has its ClusterRole',
    meshesIn: 'elsewhere',
    bindings: ofMeshes.flatMap((own) => Object.values(own).map(account)),
    count: 2,
  },
  { where: 'with the account of a tenant', meshesIn: 'elsewhere', bindings: [account('view')], count: 0 },
])('check names other meshes $where: $count', async ({ meshesIn, bindings, count }) => {
  const { 'other-meshes': found } = await check(await clusters({ meshesIn, bindings }));
  const names = ['Cilium ClusterMesh', "Submariner's service discovery"].slice(0, count);
  expect(found).toEqual(
    names.map((name) => ({
      severity: 'warning',
      detail: `c1 also has ${name}, which may export the same Services`,
    })),
  );
});

it('test takes no image from them', async () => {
  const words = ['--kubeconfig', await clusters({ own: [] }), '--context=c1', '--context=c2'];
  expect(afterContexts(await runHere({}, 'test', ...words))).toEqual({
    code: 2,
    stdout: '',
    stderr:
      `c1: ${skipped}\nc2: ${skipped}\n` +
      'semaphore: c1 has no Pod of an app: set --image to an image with Node.js 24\n',
  });
});

it.each([
  { name: 'graph', words: ['graph', '--context=c1', '-o', 'mermaid'] },
  { name: 'explain', words: ['explain', '--from', 'c1/shop/cart', '--to', 'c2/shop/web:80'] },
  { name: 'export', words: ['export', 'web', '-n', 'shop', '--context=c1'] },
])('$name names a few of them in one line', async ({ words }) => {
  const { stderr } = await runHere({}, ...words, '--kubeconfig', await clusters());
  expect(stderr.split('\n').filter((line) => line.startsWith('c1: these Pods'))).toEqual([`c1: ${skipped}`]);
});

it('gather takes neither logs nor objects of them', async () => {
  const file = join(await folder(), 'bug.tar.gz');
  const { code, stderr } = await runHere({}, 'gather', '--kubeconfig', await clusters(), '-o', file);
  expect([code, stderr]).toEqual([0, `c1: ${skipped}\n`]);
  const root = 'semaphore-gather/0-c1';
  const paths = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' }).split('\n');
  expect(paths.filter((path) => /\.log$|status/.test(path))).toEqual([
    `${root}/0-policy-own.status.json`,
    `${root}/0-policy-own.log`,
  ]);
  const text = (path: string): string => execFileSync('tar', ['-xzOf', file, `${root}/${path}`], { encoding: 'utf8' });
  expect(text('pods.json')).toContain('policy-own');
  expect(text('pods.json')).not.toContain('"default"');
  expect(text('skipped-pods.txt')).toBe(`c1: ${skipped}\n`);
});

it('unlink does not wait for them', async ({ signal }) => {
  const [context] = await contextsOf({ kubeconfig: await clusters({ own: [] }) });
  const said: string[] = [];
  await awaitApps(
    {
      name: 'c1',
      context: context!,
      removed: ['c2'],
      remaining: [],
      mirrorNamespace: 'sys-semaphore',
      report: (sentence) => void said.push(sentence),
    },
    { signal },
  );
  expect(said).toEqual([skipped]);
});
