import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digest, findBinaries, type Kubernetes, recipe, requiredVersion, tools } from './binaries.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'binaries-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

function put(file: string, mode = 0o755): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  chmodSync(file, mode);
}

describe('findBinaries', () => {
  it('finds what is in the folder of KUBEBUILDER_ASSETS', () => {
    for (const tool of tools) put(join(dir, tool));
    const found = findBinaries(tools, { KUBEBUILDER_ASSETS: dir });
    expect(found).toMatchObject({ ok: true, paths: { etcd: join(dir, 'etcd'), kubectl: join(dir, 'kubectl') } });
  });

  it('names each file that KUBEBUILDER_ASSETS lacks', () => {
    put(join(dir, 'etcd'));
    put(join(dir, 'kubectl'), 0o644);
    expect(findBinaries(['etcd', 'kube-apiserver', 'kubectl'], { KUBEBUILDER_ASSETS: dir })).toEqual({
      ok: false,
      missing: ['kube-apiserver', 'kubectl'],
      reason: `KUBEBUILDER_ASSETS=${dir} has no kube-apiserver, kubectl`,
    });
  });

  it('finds programs of the newer Kubernetes in a folder of KUBEBUILDER_ASSETS, and kubectl and etcd beside it', () => {
    const newer = join(dir, 'kubernetes-newer');
    for (const file of [join(newer, 'kubelet'), join(dir, 'kubectl'), join(dir, 'etcd')]) put(file);
    const found = findBinaries(['kubelet', 'kubectl', 'etcd'], { KUBEBUILDER_ASSETS: dir }, 'kubernetes-newer');
    expect(found).toMatchObject({
      ok: true,
      paths: { kubelet: join(newer, 'kubelet'), kubectl: join(dir, 'kubectl') },
    });
  });

  it('does not look into the cache when KUBEBUILDER_ASSETS is set', () => {
    put(recipe('etcd', { XDG_CACHE_HOME: dir }).file);
    expect(findBinaries(['etcd'], { KUBEBUILDER_ASSETS: '/nonexistent', XDG_CACHE_HOME: dir }).ok).toBe(false);
  });

  it('finds what was built into the cache', () => {
    const { file } = recipe('etcd', { XDG_CACHE_HOME: dir });
    put(file);
    expect(findBinaries(['etcd'], { XDG_CACHE_HOME: dir })).toMatchObject({ ok: true, paths: { etcd: file } });
  });

  it('tells how to get what was never built', () => {
    const found = findBinaries(['etcd', 'kubectl'], { XDG_CACHE_HOME: dir });
    expect(found).toMatchObject({ ok: false, missing: ['etcd', 'kubectl'] });
    expect(found).toMatchObject({ reason: expect.stringContaining('Run "npm run binaries" (') as string });
  });

  it('tells how to get an engine that was never built', () => {
    const found = findBinaries(['etcd', 'cyclonus'], { XDG_CACHE_HOME: dir });
    expect(found).toMatchObject({ reason: expect.stringContaining('Run "npm run binaries -- --engines" (') as string });
  });

  it('tells how to get programs of the newer Kubernetes that were never built', () => {
    const found = findBinaries(['kubelet'], { XDG_CACHE_HOME: dir }, 'kubernetes-newer');
    expect(found).toMatchObject({ reason: expect.stringContaining('Run "npm run binaries -- --newer" (') as string });
  });

  it('uses the version that KUBERNETES names', () => {
    const found = findBinaries(['kube-apiserver', 'kubelet'], { KUBEBUILDER_ASSETS: dir, KUBERNETES: 'oldest' });
    expect(found).toMatchObject({ missing: ['kube-apiserver', 'kubelet'] });
    put(join(dir, 'kubernetes-oldest', 'kube-apiserver'));
    put(join(dir, 'kubelet'));
    expect(findBinaries(['kube-apiserver', 'kubelet'], { KUBEBUILDER_ASSETS: dir, KUBERNETES: 'oldest' }).ok).toBe(
      true,
    );
    expect(() => findBinaries([], { KUBERNETES: 'old' })).toThrow('KUBERNETES=old is not known: it is newer or oldest');
  });

  it('tells how to get programs of the oldest Kubernetes that were never built', () => {
    const found = findBinaries(['kube-apiserver'], { XDG_CACHE_HOME: dir, KUBERNETES: 'oldest' });
    expect(found).toMatchObject({ reason: expect.stringContaining('Run "npm run binaries -- --oldest" (') as string });
  });
});

describe('recipe', () => {
  it('puts all tools of one module into one folder, named after its version', () => {
    const [apiserver, kubectl] = [recipe('kube-apiserver'), recipe('kubectl')];
    expect(dirname(apiserver.file)).toBe(dirname(kubectl.file));
    expect(dirname(apiserver.file)).toMatch(/kube-semaphore\/binaries\/kubernetes-v1\.\d+\.\d+-[0-9a-f]{12}$/);
    expect(recipe('etcd').file).toMatch(/kube-semaphore\/binaries\/etcd-v3\.\d+\.\d+-[0-9a-f]{12}\/etcd$/);
  });

  it('builds the newer Kubernetes with a version three minor versions later', () => {
    const minor = (kubernetes: Kubernetes) => Number(recipe('kubelet', {}, kubernetes).version.split('.')[1]);
    expect(minor('kubernetes-newer') - minor('kubernetes')).toBe(3);
  });

  it('tells Kubernetes its version', () => {
    const { args, version } = recipe('kube-apiserver');
    expect(args.join(' ')).toContain(`-X k8s.io/component-base/version.gitVersion=${version}`);
    expect(args.at(-1)).toBe('k8s.io/kubernetes/cmd/kube-apiserver');
  });
});

describe('requiredVersion', () => {
  it.each([
    { name: 'reads a line of its own', goMod: 'module m\n\nrequire example.org/a v1.2.3\n', want: 'v1.2.3' },
    {
      name: 'is not misled by a longer path',
      goMod: 'require example.org/ab v2.0.0\nrequire example.org/a v1.0.0',
      want: 'v1.0.0',
    },
  ])('$name', ({ goMod, want }) => {
    expect(requiredVersion(goMod, 'example.org/a')).toBe(want);
  });

  it('throws when the module is not required', () => {
    expect(() => requiredVersion('module m\n', 'example.org/a')).toThrow('require example.org/a');
  });
});

describe('digest', () => {
  it.each([
    { name: 'changes with a flag', other: ['go.mod', '-race'] },
    { name: 'changes when text moves from one input to the next', other: ['go.mo', 'd-trimpath'] },
    { name: 'changes with the order', other: ['-trimpath', 'go.mod'] },
  ])('$name', ({ other }) => {
    expect(digest(other)).not.toBe(digest(['go.mod', '-trimpath']));
  });
});
