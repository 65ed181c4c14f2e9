import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { delimiter, join, relative } from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { calicoApiCrds, endpointSlice, goesWithoutKubectl, kubectlFolder, node } from '@kube-semaphore/testkit';
import { parse, parseAllDocuments } from 'yaml';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextsOf } from '../src/clusters/contexts.ts';
import { LinkApi } from '../src/link/apply/api.ts';
import { kubeconfigOf, startApiServer } from './support/api-server.ts';
import { programOf } from '../src/program.ts';
import { afterContexts, runHere, runWith, terminalInMemory } from './support/run.ts';

const deploy = fileURLToPath(new URL('../../../deploy', import.meta.url));
const example = join(deploy, 'overlays/example');
const pods = { c1: '10.2.0.0/16', c2: '10.4.0.0/16', c3: '10.6.0.0/16' } as const;
const services = { c1: '10.3.0.0/16', c2: '10.5.0.0/16', c3: '10.7.0.0/16' } as const;

type Name = keyof typeof pods;
const names: readonly Name[] = ['c1', 'c2', 'c3'];

const clusters = {} as Record<Name, TestCluster>;
beforeAll(async () => {
  for (const name of names) {
    const cluster = await startEmbeddedCluster({ name });
    clusters[name] = cluster;
    for (const crd of calicoApiCrds()) await cluster.defineResource(crd);
    await cluster.admin.create('/apis/projectcalico.org/v3/ippools', {
      apiVersion: 'projectcalico.org/v3',
      kind: 'IPPool',
      metadata: { name: 'default-ipv4-ippool' },
      spec: { cidr: pods[name] },
    });
    await cluster.admin.create('/api/v1/nodes', {
      ...node({ name: `${name}-n1`, internalIPs: ['172.18.0.9'] }),
      spec: { podCIDRs: [pods[name].replace('0.0/16', '1.0/24')] },
    });
  }
});
afterAll(() => Promise.all(Object.values(clusters).map((cluster) => cluster.stop())));

const server = (name: Name): string => `--server=${name}=https://api.${name}.example:6443`;
const range = (name: Name): string => `--service-cidr=${name}=${services[name]}`;

/** Links clusters, with the answers that a cluster without kubeadm needs. */
const link = (folder: string, linked: readonly Name[], ...flags: readonly string[]) =>
  linkPlainly(folder, linked, ...linked.flatMap((name) => [server(name), range(name)]), ...flags);

/** The same without answers, as a further run may be. Most tests need no kubectl, which takes a while. */
async function linkPlainly(folder: string, linked: readonly string[], ...flags: readonly string[]) {
  const KUBECONFIG = names.map((name) => clusters[name].adminKubeconfig).join(delimiter);
  const words = [...linked.map((name) => `--context=${name}`), '-o', folder, ...flags];
  return afterContexts(await runHere({ KUBECONFIG, PATH: '/nonexistent' }, 'link', ...words));
}

type Page = { readonly clusters: readonly { readonly files: Readonly<Record<string, readonly string[]>> }[] };

/** The files that a plain link changes. */
async function changedPlainly(folder: string, linked: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await linkPlainly(folder, linked, '--format=json');
  expect([code, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as Page).clusters.flatMap(({ files }) => Object.values(files).flat());
}

/** The texts of all files in a folder. */
async function textsIn(folder: string): Promise<Readonly<Record<string, string>>> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((each) => each.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name)).toSorted();
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path, 'utf8')] as const)),
  );
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'semaphore-link-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

const configOf = async (folder: string, name: Name, app: string): Promise<unknown> =>
  JSON.parse(await readFile(join(folder, name, `${app}.json`), 'utf8'));

/** Of `dns.yaml`: one line has the zones of all remotes. */
const isZones = (line: string): boolean => /^- +svc\.cluster\./.test(line);

describe('link', () => {
  it('says what it found, and where', async () => {
    const { code, stdout } = await link(await newFolder(), ['c1', 'c2']);
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual(
      expect.arrayContaining([
        ['c1', 'name', 'c1', 'the context'],
        ['c1', 'API server', 'https://api.c1.example:6443', '--server'],
        ['c1', 'Pods', '10.2.0.0/16', "Calico's IPPools"],
        ['c1', 'IPAM', 'podCIDRs', 'Node.spec.podCIDRs'],
      ]),
    );
  });

  it('does not offer a server that it reaches through a proxy of the environment', async () => {
    const config = parse(await readFile(clusters.c1.adminKubeconfig, 'utf8')) as {
      clusters: { cluster: { server: string; 'tls-server-name'?: string } }[];
    };
    const [{ cluster }] = config.clusters as [(typeof config.clusters)[0]];
    const { port } = new URL(cluster.server);
    const proxy = createServer().on('connect', (_, client) => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(connect(Number(port), '127.0.0.1')).pipe(client);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void proxy.close());
    Object.assign(cluster, { server: 'https://api.c1.example:6443', 'tls-server-name': 'localhost' });
    const path = join(await newFolder(), 'kubeconfig');
    await writeFile(path, JSON.stringify(config));
    const env = {
      KUBECONFIG: [path, clusters.c2.adminKubeconfig].join(delimiter),
      HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      https_proxy: '',
      NO_PROXY: '',
      no_proxy: '',
    };
    const flags = ['--context=c1', range('c1'), '--context=c2', server('c2'), range('c2')];
    const { code, stderr } = await runHere(env, 'link', ...flags, '-o', await newFolder());
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining(
        'https://api.c1.example:6443 in the kubeconfig may not be reached from elsewhere',
      ),
    });
  });

  it.skipIf(goesWithoutKubectl)('writes overlays that do the same as those of the page, and pools', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2'], '--no-coredns');
    for (const [name, other] of [
      ['c1', 'c2'],
      ['c2', 'c1'],
    ] as const) {
      const [own, documented] = await Promise.all([rendered(join(folder, name)), rendered(join(example, name))]);
      expect(own.filter(({ kind }) => kind !== 'IPPool')).toEqual(documented);
      expect(own.filter(({ kind }) => kind === 'IPPool')).toEqual([
        {
          apiVersion: 'projectcalico.org/v3',
          kind: 'IPPool',
          metadata: { name: `remote-${other}` },
          spec: { cidr: pods[other], disabled: true, disableBGPExport: true, natOutgoing: false },
        },
      ]);
    }
  });

  it.skipIf(goesWithoutKubectl)(
    'adds our own CoreDNS where it knows no DNS server, with the names of all remotes',
    async () => {
      const folder = await newFolder();
      const dnsOf = async (name: Name) => {
        const objects = (await rendered(join(folder, name))) as readonly (Rendered & {
          readonly metadata: { readonly name: string };
          readonly data?: { readonly Corefile?: string };
        })[];
        const ours = objects.filter(({ metadata }) => metadata.name === 'semaphore-dns');
        return [ours.map(({ kind }) => kind), ours.find(({ data }) => data)?.data?.Corefile?.split('\n')[0]];
      };
      await link(folder, ['c1', 'c2']);
      const kinds = ['ConfigMap', 'Service', 'Deployment', 'PodDisruptionBudget'];
      expect(await dnsOf('c1')).toEqual([kinds, 'svc.cluster.c2:5353 svc.cluster.global:5353 {']);
      await link(folder, ['c1', 'c3'], '--mcs');
      const zones = 'svc.cluster.c2:5353 svc.cluster.c3:5353 svc.cluster.global:5353 svc.clusterset.local:5353 {';
      expect(await dnsOf('c1')).toEqual([kinds, zones]);
      expect(await configOf(folder, 'c1', 'service-mirror')).toMatchObject({
        mcs: { derivedServices: 'mirrorNamespace' },
      });
      expect(await changedPlainly(folder, ['c1', 'c3'])).toEqual([]);
      const unlinked = ['--context=c1', '--context=c2', '-o', folder];
      const KUBECONFIG = names.map((name) => clusters[name].adminKubeconfig).join(delimiter);
      expect(await runHere({ KUBECONFIG }, 'unlink', ...unlinked)).toMatchObject({ code: 0 });
      expect(await dnsOf('c1')).toEqual([kinds, zones.replace('svc.cluster.c2:5353 ', '')]);
      await link(folder, ['c1', 'c3'], '--no-coredns');
      expect(await dnsOf('c1')).toEqual([[], undefined]);
    },
  );

  it.skipIf(goesWithoutKubectl)('writes overlays without tokens that do not end, if they are to end', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2'], '--bound-tokens=24h', '--no-coredns');
    const documented = await rendered(join(example, 'c1'));
    const own = await rendered(join(folder, 'c1'));
    expect(own.filter(({ kind }) => kind !== 'IPPool')).toEqual(documented.filter(({ kind }) => kind !== 'Secret'));
  });

  it.skipIf(goesWithoutKubectl)('gives agents a wireguard-go for each remote, as the component has it', async () => {
    const folder = await newFolder();
    await link(folder, names, '--userspace');
    const component = parse(await readFile(`${deploy}/wireguard/components/userspace/sidecar.yaml`, 'utf8')) as Agent;
    const [sidecar] = component.spec.template.spec.initContainers;
    const agent = (await rendered(join(folder, 'c1'))).find(({ kind }) => kind === 'DaemonSet') as unknown as Agent;
    expect(agent.spec.template.spec.initContainers).toEqual(
      // kustomize puts each before the others.
      ['c3', 'c2'].map((remote) => ({
        ...sidecar,
        name: `wireguard-go-${remote}`,
        args: ['-f', `wireguard.${remote}`],
        startupProbe: {
          ...sidecar!.startupProbe,
          exec: { command: ['wg', 'show', `wireguard.${remote}`, 'listen-port'] },
        },
      })),
    );
    expect(agent.spec.template.spec.containers).toMatchObject([
      { env: expect.arrayContaining(component.spec.template.spec.containers[0]!.env) as unknown },
    ]);
  });

  it.skipIf(goesWithoutKubectl)(
    'lets API servers ask for the status of apps, also through tunnels of Calico',
    async () => {
      const { admin } = clusters.c3;
      await admin.create(
        '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
        endpointSlice({ name: 'kubernetes', service: 'kubernetes', endpoints: ['172.18.0.3', '172.18.0.20'] }),
      );
      const annotations = {
        'projectcalico.org/IPv4VXLANTunnelAddr': '10.6.2.0',
        'projectcalico.org/IPv4Address': '192.0.2.1/24',
      };
      const controlPlane = node({ name: 'c3-n2', podCIDRs: ['10.6.2.0/24'], internalIPs: ['172.18.0.3'], annotations });
      await admin.create('/api/v1/nodes', controlPlane);
      onTestFinished(() => admin.delete('/api/v1/nodes/c3-n2'));
      const folder = await newFolder();
      const { stdout } = await link(folder, ['c1', 'c3']);
      expect(stdout).toMatch(
        /^c3 +calls Pods from +10\.6\.2\.0, 172\.18\.0\.3, 172\.18\.0\.20 +endpoints of its API servers$/m,
      );
      const policies = (await rendered(join(folder, 'c3'))).filter(({ kind }) => kind === 'NetworkPolicy');
      const from = [
        { namespaceSelector: {} },
        ...['10.6.2.0', '172.18.0.3', '172.18.0.20'].map((ip) => ({ ipBlock: { cidr: `${ip}/32` } })),
      ];
      expect(policies).toMatchObject([{ spec: { ingress: [{ from }] } }, { spec: { ingress: [{ from }] } }]);
    },
  );

  it('changes nothing when it runs again without its flags, which a new cluster gets, too, until others end them', async () => {
    const folder = await newFolder();
    const chosenBy = async (name: Name): Promise<readonly boolean[]> => {
      const kustomization = await readFile(join(folder, name, 'kustomization.yaml'), 'utf8');
      return ['/components/userspace', '/components/network-policies', 'newName: r.example/s', '$patch: delete'].map(
        (part) => kustomization.includes(part),
      );
    };
    await link(
      folder,
      ['c1', 'c2'],
      '--userspace',
      '--network-policies',
      '--registry=r.example/s',
      '--bound-tokens=24h',
    );
    const { stdout } = await link(folder, names, '--diff');
    const lines = stdout.split('\n');
    const flags = '--userspace --network-policies --registry=r.example/s --bound-tokens=24h';
    expect(lines.map((line) => line.split(/ {2,}/))).toContainEqual(['c1', 'flags', flags, 'link.json']);
    // Only c3 is new in c1.
    expect(lines.filter((line) => line.startsWith('- ') && !isZones(line))).toEqual([]);
    for (const name of names) expect(await chosenBy(name)).toEqual([true, true, true, true]);
    expect(await changedPlainly(folder, names)).toEqual([]);
    await link(folder, ['c1', 'c2'], '--no-userspace', '--no-network-policies', '--no-registry', '--no-bound-tokens');
    expect(await chosenBy('c1')).toEqual([false, false, false, false]);
    expect(await chosenBy('c3')).toEqual([true, true, true, true]);
  });

  it('keeps what it was told of a cluster, for this one alone, until it is to find it again', async () => {
    const folder = await newFolder();
    await link(
      folder,
      ['c1', 'c2'],
      '--pod-cidr=c2=10.4.0.0/16',
      '--pod-cidr=c2=10.8.0.0/16',
      '--ipam=c2=calico-blocks',
    );
    const again = (...flags: readonly string[]) => linkPlainly(folder, ['c1', 'c2'], ...flags);
    const { stdout } = await again('--diff');
    const lines = stdout.split('\n');
    expect(lines.map((line) => line.split(/ {2,}/))).toEqual(
      expect.arrayContaining([
        ['c1', 'API server', 'https://api.c1.example:6443', 'link.json'],
        ['c1', 'Pods', '10.2.0.0/16', "Calico's IPPools"],
        ['c2', 'Pods', '10.4.0.0/16, 10.8.0.0/16', 'link.json'],
        ['c2', 'nodes', '172.18.0.0/16', 'around InternalIPs of its Nodes'],
        ['c2', 'Services', '10.5.0.0/16', 'link.json'],
        ['c2', 'IPAM', 'calico-blocks', 'link.json'],
      ]),
    );
    expect(lines.filter((line) => line.startsWith(folder))).toEqual([]);
    // A new cluster needs answers of its own.
    const { code, stderr } = await again('--context=c3');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^semaphore: c3: .* set --server c3=/)]);
    await again('--no-pod-cidr', '--no-ipam', '--server=c2=https://lb.c2.example');
    expect(await configOf(folder, 'c1', 'wireguard')).toMatchObject({
      remotes: [{ remoteAPIURL: 'https://lb.c2.example', podSubnet: '10.4.0.0/16' }],
    });
    expect(await configOf(folder, 'c2', 'link')).toMatchObject({
      answers: { server: 'https://lb.c2.example', podCidrs: false, serviceCidrs: ['10.5.0.0/16'], ipam: false },
    });
  });

  it('shows how ranges change before it writes them, and lets no remote have more until a flag names it', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2']);
    const textIn = (name: Name) => readFile(join(folder, name, 'wireguard.json'), 'utf8');
    const before = [await textIn('c1'), await textIn('c2')];
    const { admin } = clusters.c2;
    await admin.create('/apis/projectcalico.org/v3/ippools', {
      apiVersion: 'projectcalico.org/v3',
      kind: 'IPPool',
      metadata: { name: 'more' },
      spec: { cidr: '10.8.0.0/16' },
    });
    onTestFinished(() => admin.delete('/apis/projectcalico.org/v3/ippools/more'));
    await admin.create('/api/v1/nodes', node({ name: 'c2-n2', internalIPs: ['172.20.0.1'] }));
    onTestFinished(() => admin.delete('/api/v1/nodes/c2-n2'));

    const refused = await link(folder, ['c1', 'c2'], '--apply');
    expect([refused.code, refused.stderr.split('\n')]).toEqual([
      1,
      [
        'semaphore: c2: 10.8.0.0/16 for Pods is more than c1 let in so far: ' +
          'if that is right, set --pod-cidr c2=10.4.0.0/16 --pod-cidr c2=10.8.0.0/16',
        'semaphore: c2: 172.20.0.0/16 for nodes is more than c1 let in so far: ' +
          'if that is right, set --node-cidr c2=172.18.0.0/16 --node-cidr c2=172.20.0.0/16',
        'semaphore: nothing was written',
        '',
      ],
    ]);
    const rows = refused.stdout.split('\n').map((line) => line.split(/ {2,}/));
    const ofC2 = '10.8.0.0/16, 172.20.0.0/16';
    expect(rows.slice(rows.findIndex(([first]) => first === 'CLUSTER') + 1).filter((row) => row.length > 1)).toEqual([
      ['c1', 'policy.json', 'allowedPodCIDRs', 'c2', '10.8.0.0/16'],
      ['c1', 'service-mirror.json', 'allowedPodCIDRs', 'c2', '10.8.0.0/16'],
      ['c1', 'wireguard.json', 'podSubnet', 'c2', '10.8.0.0/16'],
      ['c1', 'wireguard.json', 'allowedEndpointCIDRs', 'c2', '172.20.0.0/16'],
      ['c2', 'policy.json', 'local.cidrs', 'c2', ofC2],
      ['c2', 'service-mirror.json', 'localCluster.cidrs', 'c2', ofC2],
    ]);
    expect([await textIn('c1'), await textIn('c2')]).toEqual(before);

    const flags = ['--pod-cidr=c2=10.4.0.0/16', '--pod-cidr=c2=10.8.0.0/16', '--node-cidr=c2=172.16.0.0/12'];
    expect(await link(folder, ['c1', 'c2'], ...flags)).toMatchObject({ code: 0, stderr: '' });
    const remotes = [{ podSubnet: ['10.4.0.0/16', '10.8.0.0/16'], allowedEndpointCIDRs: ['172.16.0.0/12'] }];
    expect(await configOf(folder, 'c1', 'wireguard')).toMatchObject({ remotes });
    expect(await changedPlainly(folder, ['c1', 'c2'])).toEqual([]);
  });

  /** Each flag that changes what is written, and what undoes it. */
  const choices: Readonly<Record<string, { readonly flags: readonly string[]; readonly undo: string }>> = {
    server: { flags: ['--server=c1=https://lb.c1.example'], undo: server('c1') },
    'pod-cidr': { flags: ['--pod-cidr=c1=10.2.0.0/16', '--pod-cidr=c1=10.8.0.0/16'], undo: '--no-pod-cidr' },
    'service-cidr': { flags: ['--service-cidr=c1=10.9.0.0/16'], undo: range('c1') },
    'node-cidr': { flags: ['--node-cidr=c1=172.16.0.0/12'], undo: '--no-node-cidr' },
    ipam: { flags: ['--ipam=c1=calico-blocks'], undo: '--no-ipam' },
    deploy: { flags: ['--deploy=https://example.com/kube-semaphore//deploy?ref=v1'], undo: '--no-deploy' },
    registry: { flags: ['--registry=r.example/s'], undo: '--no-registry' },
    helm: { flags: ['--helm'], undo: '--no-helm' },
    'bound-tokens': { flags: ['--bound-tokens=24h'], undo: '--no-bound-tokens' },
    coredns: { flags: ['--no-coredns'], undo: '--coredns' },
    wireguard: { flags: ['--no-wireguard'], undo: '--wireguard' },
    'network-policies': { flags: ['--network-policies'], undo: '--no-network-policies' },
    mcs: { flags: ['--mcs'], undo: '--no-mcs' },
    userspace: { flags: ['--userspace'], undo: '--no-userspace' },
  };

  /** These choose, too, and have tests of their own. */
  const others = ['cluster-name', 'shared-service-cidrs', 'families'];

  /** They say where, how much and how to print, and choose nothing. */
  const chooseNothing = ['kubeconfig', 'context', 'output', 'apply', 'renew', 'diff', 'format'];

  it('has a test for each flag that chooses', () => {
    const where = { name: 'semaphore', ...terminalInMemory(), signal: new AbortController().signal };
    const { options } = programOf(where, () => undefined).commands.find((command) => command.name() === 'link')!;
    const flags = options.map(({ long }) => long!.replace(/^--(?:no-)?/, ''));
    expect(new Set(flags)).toEqual(new Set([...Object.keys(choices), ...others, ...chooseNothing]));
  });

  /** All files, but for the one that only keeps what was chosen. */
  const built = (texts: Readonly<Record<string, string>>): object =>
    Object.fromEntries(Object.entries(texts).filter(([path]) => !path.endsWith('link.json')));

  it.each(Object.entries(choices))('keeps --%s, until a flag undoes it', async (_, { flags, undo }) => {
    const [folder, plain] = [await newFolder(), await newFolder()];
    await link(plain, ['c1', 'c2']);
    expect(await link(folder, ['c1', 'c2'], ...flags)).toMatchObject({ code: 0, stderr: '' });
    const texts = await textsIn(folder);
    expect(texts).not.toEqual(await textsIn(plain));
    expect(await changedPlainly(folder, ['c1', 'c2'])).toEqual([]);
    expect(await textsIn(folder)).toEqual(texts);
    expect(await linkPlainly(folder, ['c1', 'c2'], undo)).toMatchObject({ code: 0, stderr: '' });
    expect(built(await textsIn(folder))).toEqual(built(await textsIn(plain)));
  });

  it('keeps --shared-service-cidrs, until a flag undoes it', async () => {
    const folder = await newFolder();
    const shared = ['--shared-service-cidrs', `--service-cidr=c2=${services.c1}`];
    expect(await link(folder, ['c1', 'c2'], ...shared)).toMatchObject({ code: 0, stderr: '' });
    expect(await changedPlainly(folder, ['c1', 'c2'])).toEqual([]);
    expect(await linkPlainly(folder, ['c1', 'c2'], '--no-shared-service-cidrs')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--shared-service-cidrs allows it') as unknown,
    });
  });

  it('links overlapping ranges by --families, and keeps that, until a flag says otherwise', async () => {
    const folder = await newFolder();
    const ofC1 = ['10.2.0.0/16', '10.4.8.0/24', 'fd00:2::/48'].map((cidr) => `--pod-cidr=c1=${cidr}`);
    const ranges = [...ofC1, ...['10.4.0.0/16', 'fd00:4::/48'].map((cidr) => `--pod-cidr=c2=${cidr}`)];
    const refused = {
      code: 1,
      stderr: expect.stringContaining(
        'which overlaps 10.4.0.0/16 for Pods of c2: --families ipv6 links them',
      ) as unknown,
    };
    expect(await link(folder, ['c1', 'c2'], ...ranges)).toMatchObject(refused);
    expect(await link(folder, ['c1', 'c2'], ...ranges, '--families=ipv6')).toMatchObject({ code: 0, stderr: '' });
    const used = { name: 'c2', families: ['ipv6'] };
    const limits = { ...used, allowedPodCIDRs: ['fd00:4::/48'] };
    expect(await configOf(folder, 'c1', 'wireguard')).toMatchObject({
      remotes: [{ ...used, podSubnet: 'fd00:4::/48' }],
    });
    expect(await configOf(folder, 'c1', 'service-mirror')).toMatchObject({ remoteClusters: [limits] });
    expect(await configOf(folder, 'c1', 'policy')).toMatchObject({ remotes: [limits] });
    expect(await changedPlainly(folder, ['c1', 'c2'])).toEqual([]);
    expect(await linkPlainly(folder, ['c1', 'c2'], '--families=ipv4,ipv6')).toMatchObject(refused);
    expect(await linkPlainly(folder, ['c1', 'c2'], '--families=ipv5')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('use ipv4, ipv6 or ipv4,ipv6') as unknown,
    });
  });

  it('keeps --cluster-name, and refuses another name and the folder of another cluster', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2'], '--cluster-name=c1=east');
    expect(await changedPlainly(folder, ['c1', 'c2'])).toEqual([]);
    const again = await link(folder, ['c1', 'c2'], '--cluster-name=c1=west');
    expect([again.code, again.stderr]).toEqual([
      1,
      `semaphore: c1: ${folder}/east is of this cluster: leave out --cluster-name c1=west, or unlink east first\n` +
        'semaphore: nothing was written\n',
    ]);
    await rename(join(folder, 'east'), join(folder, 'c3'));
    const other = await link(folder, ['c2', 'c3']);
    expect([other.code, other.stderr]).toEqual([
      1,
      `semaphore: c3: ${folder}/c3 is of another cluster, by the uid of its namespace kube-system: if this one takes its place, ` +
        'set --cluster-name c3=c3; else use another name or another -o\nsemaphore: nothing was written\n',
    ]);
    expect(await link(folder, ['c2', 'c3'], '--cluster-name=c3=c3')).toMatchObject({ code: 0, stderr: '' });
  });

  it.skipIf(goesWithoutKubectl)('writes a folder that builds the same elsewhere', async () => {
    const [folder, elsewhere] = [await newFolder(), await newFolder()];
    // The bundle has the manifests in itself.
    const KUBECONFIG = [clusters.c1.adminKubeconfig, clusters.c2.adminKubeconfig].join(delimiter);
    const answers = (['c1', 'c2'] as const).flatMap((name) => [`--context=${name}`, server(name), range(name)]);
    await runWith({ KUBECONFIG }, 'link', ...answers, '-o', folder, '--mcs', '--userspace', '--network-policies');
    const before = await rendered(join(folder, 'c1'));
    expect(before.length).toBeGreaterThan(60);
    await rename(join(folder, 'c1'), join(elsewhere, 'moved'));
    expect(await rendered(join(elsewhere, 'moved'))).toEqual(before);
  });

  it('removes copies of manifests that it does not need any more', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2'], '--mcs');
    await link(folder, ['c1', 'c2'], '--no-mcs');
    expect(await readdir(join(folder, 'c1/deploy/service-mirror'))).toEqual(['base', 'components', 'remote']);
    await link(folder, ['c1', 'c2'], '--deploy=https://example.com/deploy');
    expect(await readdir(join(folder, 'c1'))).not.toContain('deploy');
    // Manifests of the user may be in the same place.
    await cp(deploy, join(folder, 'c1/deploy'), { recursive: true });
    await link(folder, ['c1', 'c2'], `--deploy=${join(folder, 'c1/deploy')}`);
    await linkPlainly(folder, ['c1', 'c2']);
    expect(await readdir(join(folder, 'c1/deploy/service-mirror'))).toContain('mcs');
  });

  it('says that objects are not known without kubectl', async () => {
    expect(await link(await newFolder(), ['c1', 'c2'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('objects  not known: --apply needs kubectl in the PATH') as unknown,
    });
  });

  it.each([
    {
      name: 'JSON',
      file: 'c1/policy.json',
      text: '{"a":',
      want: /c1\/policy\.json: Unexpected end of JSON input: correct/,
    },
    {
      name: 'a field',
      file: 'c1/policy.json',
      text: '{"remotes":[{}]}',
      want: /c1\/policy\.json: remotes\.0\.name is not valid/,
    },
    {
      name: 'a choice',
      file: 'c2/link.json',
      text: '{"mesh":1}',
      want: /c2\/link\.json: mesh is not known: correct it/,
    },
  ])('names $name of a file that is not valid', async ({ file, text, want }) => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2']);
    await writeFile(join(folder, file), text);
    expect(await link(folder, ['c1', 'c2'])).toMatchObject({ code: 2, stderr: expect.stringMatching(want) as unknown });
  });

  it.each([
    { name: 'that do not end', flags: [], code: 2, want: '--renew needs --bound-tokens: other tokens do not end' },
    {
      name: 'without an overlay',
      flags: ['--bound-tokens=1h'],
      code: 1,
      want: '/c1 has no overlay, which --renew needs: set -o to the folder of the last link',
    },
  ])('has a sentence for a renewal of tokens $name', async ({ flags, code, want }) => {
    const ended = await link(await newFolder(), ['c1', 'c2'], '--renew', ...flags);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(want) as unknown });
  });

  it('leaves limits as a user changed them', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2']);
    const [path, before] = [join(folder, 'c1/policy.json'), await configOf(folder, 'c1', 'policy')];
    expect(before).toMatchObject({ local: { cidrs: ['10.2.0.0/16', '10.3.0.0/16', '172.18.0.0/16'] } });
    const edited = JSON.stringify(before).replace('172.18.0.0/16', '172.18.0.0/17');
    await writeFile(path, edited);
    await link(folder, ['c1', 'c2'], '--node-cidr=c1=172.16.0.0/12');
    expect(await configOf(folder, 'c1', 'policy')).toEqual(JSON.parse(edited));
    expect(await configOf(folder, 'c1', 'service-mirror')).toMatchObject({
      localCluster: { name: 'c1', cidrs: ['10.2.0.0/16', '10.3.0.0/16', '172.16.0.0/12'] },
    });
  });

  it('adds a third cluster without a change of the others, or of what a user added', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2']);
    const before = (await configOf(folder, 'c1', 'wireguard')) as { remotes: readonly [object] };
    const edited = { ...before, remotes: [{ ...before.remotes[0], wgDeviceMTU: 1380 }] };
    await writeFile(join(folder, 'c1/wireguard.json'), `${JSON.stringify(edited, undefined, 2)}\n`);
    const { stdout } = await link(folder, ['c1', 'c3'], '--diff');
    expect(await configOf(folder, 'c1', 'wireguard')).toMatchObject({
      remotes: [
        { name: 'c2', wgListenPort: 51820, wgDeviceMTU: 1380 },
        { name: 'c3', wgListenPort: 51821, podSubnet: pods.c3 },
      ],
    });
    expect(await configOf(folder, 'c3', 'service-mirror')).toMatchObject({ remoteClusters: [{ name: 'c1' }] });
    // Nothing of c2 was removed.
    const removed = stdout.split('\n').filter((line) => line.startsWith('- ') && !isZones(line));
    expect(removed.filter((line) => line.includes('c2'))).toEqual([]);
  });

  it.each([
    {
      name: 'overlapping Pods',
      flags: ['--pod-cidr=c2=10.2.128.0/17', '--no-wireguard'],
      want: 'c1 has 10.2.0.0/16 for Pods, which overlaps 10.2.128.0/17 for Pods of c2',
    },
    {
      name: 'overlapping Services',
      flags: ['--service-cidr=c2=10.3.0.0/20'],
      want:
        'c1 has 10.3.0.0/16 for Services, which overlaps 10.3.0.0/20 for Services of c2: ' +
        'mirrors work, and --shared-service-cidrs allows it',
    },
    {
      name: 'Pods outside the range',
      flags: ['--pod-cidr=c2=10.9.0.0/16'],
      want: 'c2: Node c2-n1 has 10.4.1.0/24, which is outside 10.9.0.0/16 (--pod-cidr): set --pod-cidr c2=CIDR',
    },
    {
      name: 'equal names',
      flags: ['--cluster-name=c2=c1'],
      want: 'two clusters have the name c1: set --cluster-name CONTEXT=NAME for one of them',
    },
    {
      name: 'names that spell one another',
      flags: ['--cluster-name=c2=c1-a'],
      want: 'the name c1-a begins with c1-, so names of their mirrors can be equal: set --cluster-name CONTEXT=NAME for one of them',
    },
  ])('refuses $name before it writes anything', async ({ flags, want }) => {
    const folder = await newFolder();
    const { code, stderr } = await link(folder, ['c1', 'c2'], ...flags);
    expect([code, stderr]).toEqual([1, `semaphore: ${want}\nsemaphore: nothing was written\n`]);
    await expect(readFile(join(folder, 'c1/kustomization.yaml'))).rejects.toThrow('ENOENT');
  });

  it('names the flag for each thing that it can not find out', async () => {
    const { admin } = clusters.c1;
    const cidrs = '/apis/networking.k8s.io/v1/servicecidrs';
    const { apiVersion, kind, spec } = await admin.get(`${cidrs}/kubernetes`);
    await admin.delete(`${cidrs}/kubernetes`);
    onTestFinished(
      async () => void (await admin.create(cidrs, { apiVersion, kind, spec, metadata: { name: 'kubernetes' } })),
    );
    const KUBECONFIG = [clusters.c1.adminKubeconfig, clusters.c2.adminKubeconfig].join(delimiter);
    const words = ['--context=c1', '--context=c2', server('c2'), range('c2'), `--output=${await newFolder()}`];
    const { code, stderr } = afterContexts(await runWith({ KUBECONFIG }, 'link', ...words));
    expect([code, stderr.split('\n')]).toEqual([
      1,
      [
        `semaphore: c1: ${clusters.c1.url} in the kubeconfig may not be reached from elsewhere: ` +
          'set --server c1=https://HOST:PORT, as Pods of the other clusters reach it',
        'semaphore: c1: the range of Services is not known: set --service-cidr c1=CIDR',
        'semaphore: nothing was written',
        '',
      ],
    ]);
  });

  it.each([
    { name: 'only one cluster', flags: ['--context=c1'], code: 2, want: 'a link needs two clusters: repeat --context' },
    {
      name: 'an unknown context',
      flags: ['--context=c1', '--context=x'],
      code: 2,
      want: 'there is no context "x" in the kubeconfig: use --context with one of c1, c2',
    },
    {
      name: 'an answer without a value',
      flags: ['--context=c1', '--context=c2', '--server=c1'],
      code: 2,
      want: '--server c1 must be CONTEXT=VALUE',
    },
    {
      name: 'tokens that end at once',
      flags: ['--context=c1', '--context=c2', '--bound-tokens=9m'],
      code: 2,
      want: '--bound-tokens must be at least 10m: API servers give no shorter tokens',
    },
    {
      name: 'a format as the folder',
      flags: ['--context=c1', '--context=c2', '-o', 'json'],
      code: 2,
      want: '-o json would be the folder of the overlays: use --format, or -o ./json',
    },
    {
      name: 'a registry that no image can have',
      flags: ['--context=c1', '--context=c2', '--registry=https://r.example/'],
      code: 2,
      want: "--registry https://r.example/ can't begin the names of images: use one such as registry.example/semaphore",
    },
    {
      name: 'an answer for no cluster',
      flags: ['--context=c1', '--context=c2', '--server=x=https://a'],
      code: 2,
      want: '--server x=https://a names no --context: use one of c1, c2',
    },
    {
      name: 'refused and unreachable clusters',
      flags: ['--context=c1', '--context=c2'],
      code: 1,
      want:
        'c1: the API server refuses the credentials of the user "c1-admin" (401): log in again, or renew its token or certificate\n' +
        'semaphore: c2: https://127.0.0.1:1 is not reached: check the network, and the server in the kubeconfig: ' +
        'connect ECONNREFUSED 127.0.0.1:1\n' +
        'semaphore: nothing was written',
    },
  ])('has a sentence for $name', async ({ flags, code, want }) => {
    const kubeconfig = await kubeconfigOf({
      c1: await startApiServer({ refusal: 401, message: 'Unauthorized' }),
      c2: 'https://127.0.0.1:1',
    });
    const ended = await runHere({}, 'link', '--kubeconfig', kubeconfig, '-o', await newFolder(), ...flags);
    expect(afterContexts(ended)).toMatchObject({
      code,
      stderr: `semaphore: ${want}\n`,
    });
  });
});

describe('unlink', () => {
  const KUBECONFIG = (): string => names.map((name) => clusters[name].adminKubeconfig).join(delimiter);
  const unlink = async (folder: string, ...flags: readonly string[]) =>
    afterContexts(await runHere({ KUBECONFIG: KUBECONFIG() }, 'unlink', '-o', folder, ...flags));

  it('removes a cluster from the files of the others, and shows the lines', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2', 'c3']);
    const { code, stdout } = await unlink(folder, '--context=c1', '--context=c2', '--leaving=c3');
    expect(code).toBe(0);
    expect(stdout).toContain(`${folder}/c1/remote-c3.yaml (removed)\n- apiVersion: apps/v1\n`);
    expect(stdout).toContain(`${folder}/c1/kustomization.yaml\n-   - path: remote-c3.yaml\n`);
    expect(await configOf(folder, 'c1', 'service-mirror')).toMatchObject({ remoteClusters: [{ name: 'c2' }] });
    expect(await configOf(folder, 'c3', 'policy')).toMatchObject({ remotes: [{ name: 'c1' }, { name: 'c2' }] });
  });

  it('refuses a cluster that leaves while another one that reads it is not given', async () => {
    const folder = await newFolder();
    await link(folder, ['c1', 'c2', 'c3']);
    const { code, stderr } = await unlink(folder, '--context=c1', '--context=c3', '--leaving=c3');
    expect([code, stderr]).toEqual([
      1,
      `semaphore: ${folder}/c2 has the remote c3, which leaves: add the --context of c2\nsemaphore: nothing was changed\n`,
    ]);
  });

  it.each([
    {
      name: 'only one cluster',
      flags: ['--context=c1'],
      want: 'an unlink needs two clusters: repeat --context, or name one that leaves with --leaving',
    },
    {
      name: 'a folder that is not there',
      flags: ['--context=c1', '--context=c2'],
      want: 'there is no folder /nonexistent: set -o to the folder of semaphore link',
    },
  ])('has a sentence for $name', async ({ flags, want }) => {
    expect(await unlink('/nonexistent', ...flags)).toMatchObject({ code: 2, stderr: `semaphore: ${want}\n` });
  });
});

it.each([
  { refusal: 422, want: "c1: Secret kube-system/a can't be read (422)" },
  {
    refusal: 403,
    want: 'c1: the user "c1-admin" lacks a right: ask an administrator for it: Secret kube-system/a can\'t be read',
  },
])('quotes no words of an API server on a Secret: $refusal', async ({ refusal, want }) => {
  const kubeconfig = await kubeconfigOf({ c1: await startApiServer({ refusal, message: 'the token is abc' }) }, 'c1');
  const api = new LinkApi((await contextsOf({ kubeconfig }))[0]!, { signal: new AbortController().signal });
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'kube-system' } };
  await expect(api.apply(secret)).rejects.toThrow(new Error(want));
  await expect(api.credentialsOf('a')).rejects.toThrow(new Error(want));
});

type Sidecar = { readonly startupProbe: object };

/** The agents' DaemonSet, as far as the test reads it. */
type Agent = {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly initContainers: readonly Sidecar[];
        readonly containers: readonly { readonly env: object[] }[];
      };
    };
  };
};

type Rendered = { readonly kind: string; readonly [field: string]: unknown };

/** The objects of an overlay, without the layout of JSON in ConfigMaps, and the hashes in their names. */
async function rendered(folder: string): Promise<readonly Rendered[]> {
  const { stdout } = await promisify(execFile)(join(kubectlFolder ?? '', 'kubectl'), ['kustomize', folder]);
  return parseAllDocuments(stdout.replaceAll(/\b(semaphore-[a-z-]+)-[a-z0-9]{10}$/gm, '$1')).map((document) => {
    const object = document.toJS() as Rendered & { readonly data?: Readonly<Record<string, string>> };
    const config = object.data?.['config.json'];
    return config === undefined ? object : { ...object, data: JSON.parse(config) as unknown };
  });
}
