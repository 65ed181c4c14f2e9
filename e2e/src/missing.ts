import { existsSync } from 'node:fs';
import { findBinaries, imageName, isProgram, podman } from '@kube-semaphore/testkit';
import { workloads } from './manifests.ts';

/** Programs of Debian's packages that nodes run. */
const programs = ['containerd', 'runc', 'podman', 'tcpdump', 'ipset', 'nft'];

/** Files that nodes take from Debian's packages. */
const files = ['/bin/busybox', '/usr/lib/cni/bridge'];

/** What the whole system needs and this machine doesn't have, in words. It doesn't check for root. */
export async function missing(): Promise<readonly string[]> {
  const binaries = findBinaries([
    'etcd',
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'kubelet',
    'kube-proxy',
    'kubectl',
    'coredns',
    'calico',
    'calico-felix',
  ]);
  const lacking = [
    ...(binaries.ok ? [] : [binaries.reason]),
    ...programs.filter((name) => !isProgram(name)),
    ...files.filter((file) => !existsSync(file)),
    ...(existsSync('/sys/fs/cgroup/memory') ? [] : ['control groups of version 1']),
  ];
  if (lacking.includes('podman')) return lacking;
  const built = await Promise.all(Object.keys(workloads).map((app) => isBuilt(imageName(app))));
  return [
    ...lacking,
    ...(built.every(Boolean) ? [] : ['the images, which "npm run images" builds with buildah or podman']),
  ];
}

const isBuilt = (image: string): Promise<boolean> =>
  podman(['image', 'exists', image]).then(
    () => true,
    () => false,
  );
