// Real: what a release has is installed on API servers, from a registry, by helm, kubectl and krew.
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { bash, findBinaries, helm, type RealCluster, startRealCluster, startRegistry } from '@kube-semaphore/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import type { Bom } from '../../src/bom/bom.ts';
import { makeRelease } from '../../src/release/release.ts';
import { run } from '../../src/run.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const { version } = packageJson;
const DIGEST = `sha256:${'0a'.repeat(32)}`;

let folder: string;
let out: string;
/** `localhost:1234/owner` */
let registry: string;
let pushed: readonly string[];
const ends: (() => unknown)[] = [];

const binaries = findBinaries(['helm', 'kubectl', 'krew', 'validate-krew-manifest']);

beforeAll(async () => {
  if (!binaries.ok) throw new Error(binaries.reason);
  folder = await mkdtemp(join(tmpdir(), 'release-'));
  ends.push(() => rm(folder, { recursive: true }));
  out = join(folder, 'out');
  const served = await startRegistry();
  ends.push(() => served.stop());
  registry = `${served.host}/owner`;
  const added = join(folder, 'added');
  await mkdir(added);
  await writeFile(join(added, 'semaphore-policy.digest'), `${DIGEST}\n`);
  await writeFile(join(added, 'semaphore-policy.cdx.json'), '{}');
  const options = {
    registry,
    homepage: 'https://example.com',
    downloads: await serveFiles(),
    added,
    images: false,
    push: true,
  };
  // That for macOS has no executable, which takes a minute to make, and runs wherever Node.js is.
  pushed = await makeRelease({ ...options, platforms: ['darwin'] }, { root, out, ...binaries.paths });
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

/** Serves the files of the release, for krew. @returns their folder */
async function serveFiles(): Promise<string> {
  const server = createServer((request, response) => {
    readFile(join(out, request.url!)).then(
      (file) => response.end(file),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  ends.push(() => server.close());
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

async function startCluster(): Promise<RealCluster> {
  const cluster = await startRealCluster({ name: 'c1' });
  ends.push(() => cluster.stop());
  return cluster;
}

/** By name. */
async function imagesIn(cluster: RealCluster): Promise<unknown> {
  const { stdout } = await bash('kubectl get deployments,daemonsets -A -o json', cluster);
  const { items } = JSON.parse(stdout) as { items: readonly KubeObject[] };
  return Object.fromEntries(
    items.map(({ metadata, spec }) => [
      metadata.name,
      (spec as { template: { spec: { containers: readonly { image: string }[] } } }).template.spec.containers[0]!.image,
    ]),
  );
}

it('has checksums of all files, and of those of others', async () => {
  const checked = await run(['bash', '-c', `cd ${out} && sha256sum --check --strict SHA256SUMS`]);
  const files = (await readdir(out)).filter((file) => file !== 'SHA256SUMS');
  expect(checked.trimEnd().split('\n')).toEqual(files.toSorted().map((file) => `${file}: OK`));
  expect(files).toContain('semaphore-policy.cdx.json');
  expect(files).not.toContain('semaphore-policy.digest');
});

it('has a bill of materials of the program', async () => {
  const bom = JSON.parse(await readFile(join(out, 'semaphore-darwin.cdx.json'), 'utf8')) as Bom;
  expect(bom.components.map(({ name }) => name)).toContain('commander');
});

it('is installed by krew, as its manifest says', async () => {
  if (!binaries.ok) throw new Error(binaries.reason);
  const { kubectl, krew, 'validate-krew-manifest': validate } = binaries.paths;
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await symlink(kubectl, join(bin, 'kubectl'));
  await symlink(krew, join(bin, 'kubectl-krew'));
  const env = {
    HOME: folder,
    KREW_OS: 'darwin',
    KREW_ARCH: 'arm64',
    KREW_ROOT: join(folder, 'krew'),
    PATH: `${bin}:${folder}/krew/bin:${process.env['PATH']}`,
  };
  const manifest = join(out, 'semaphore.yaml');
  // With downloads and an installation for each platform.
  await run([validate, '-manifest', manifest], env);
  await run(['kubectl', 'krew', 'install', `--manifest=${manifest}`], env);
  expect(await run(['kubectl', 'semaphore', '--version'], env)).toBe(`${version}\n`);
});

it('is installed by kubectl, with images by digest where it is known', async () => {
  const cluster = await startCluster();
  for (const app of ['policy', 'service-mirror', 'wireguard'])
    await bash(`kubectl apply -f ${out}/semaphore-${app}.yaml -f ${out}/semaphore-${app}-remote.yaml`, cluster);
  expect(await imagesIn(cluster)).toEqual({
    'semaphore-policy': `${registry}/semaphore-policy@${DIGEST}`,
    'semaphore-service-mirror': `${registry}/semaphore-service-mirror:${version}`,
    'semaphore-wireguard': `${registry}/semaphore-wireguard:${version}`,
  });
});

it('is installed by Helm from the registry, with the images there', async () => {
  expect(pushed.map((chart) => chart.split('@')[0])).toEqual(
    ['semaphore-policy', 'semaphore-service-mirror', 'semaphore-wireguard', 'kube-semaphore'].map(
      (name) => `${registry}/charts/${name}`,
    ),
  );
  const cluster = await startCluster();
  const words = ['--namespace=kube-system', '--plain-http'];
  for (const chart of [`${registry}/charts/kube-semaphore`, pushed.at(-1)])
    await helm(['upgrade', '--install', 'kube-semaphore', `oci://${chart}`, ...words], {
      kubeconfig: cluster.adminKubeconfig,
    });
  expect(await imagesIn(cluster)).toEqual(
    Object.fromEntries(
      ['semaphore-policy', 'semaphore-service-mirror', 'semaphore-wireguard'].map((name) => [
        name,
        `${registry}/${name}:${version}`,
      ]),
    ),
  );
});
