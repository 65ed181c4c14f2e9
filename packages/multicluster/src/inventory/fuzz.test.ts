import { Codec, clusterProfileKind, DecodeError, parseJson } from '@kube-semaphore/kube-objects';
import { fuzz, mutateJson } from '@kube-semaphore/testkit';
import { expect, it } from 'vitest';
import { podCidrsAnnotation, readProfile, storedProfile } from './profile.ts';
import type { Provider } from './providers.ts';

const apiVersion = 'multicluster.x-k8s.io/v1alpha1';
const exec = 'clusterprofiles.multicluster.x-k8s.io/exec';
const extensions = [
  { name: `${exec}/additional-args`, extension: ['--scope', 'x'] },
  { name: `${exec}/additional-envs`, extension: { A: 'a' } },
];
const profile = {
  apiVersion,
  kind: 'ClusterProfile',
  metadata: {
    name: 'c2',
    namespace: 'fleet',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    annotations: { [podCidrsAnnotation]: '10.4.0.0/16, fd00::/48', 'semaphore.uw.io/wg-listen-port': '51820' },
  },
  status: {
    conditions: [{ type: 'ControlPlaneHealthy', status: 'True' }],
    properties: [{ name: 'cluster.clusterset.k8s.io', value: 'west' }],
    accessProviders: [
      { name: 'reader', cluster: { server: 'https://10.0.0.1', 'certificate-authority-data': 'QQ==', extensions } },
    ],
  },
};
const page = Buffer.from(
  JSON.stringify({ apiVersion, kind: 'ClusterProfileList', metadata: { resourceVersion: '1' }, items: [profile] }),
);
const provider: Provider = {
  name: 'reader',
  execConfig: { apiVersion: 'client.authentication.k8s.io/v1', command: '/plugins/reader', provideClusterInfo: true },
  profileSourcedCLIArgsPolicy: 'Append',
  profileSourcedEnvVarsPolicy: 'Replace',
};

const codec = new Codec(clusterProfileKind);

/** Each is a remote by our program alone, or has a short reason why it can't be one. */
function read(bytes: Buffer): unknown {
  return codec.pageFromJson(parseJson(bytes)).items.map((item) => {
    const found = readProfile(storedProfile(item), { all: [provider], path: '/etc/providers.json' });
    if (!found.ok) {
      if (found.reason.length > 2_000) throw new Error(`a reason of ${found.reason.length} characters`);
      return found;
    }
    const { cluster, user } = found.value.reference.context;
    if (user.exec?.command !== '/plugins/reader') throw new Error(`another program: ${user.exec?.command}`);
    if (URL.parse(cluster.server ?? '')?.protocol !== 'https:') throw new Error(`another protocol: ${cluster.server}`);
    return found;
  });
}

it('a ClusterProfile is a remote by our program alone, or refused, in linear time and a bounded heap', async () => {
  const isExpected = (error: unknown): boolean => error instanceof DecodeError;
  expect(await fuzz({ seeds: [page], mutate: mutateJson, run: read, isExpected })).toMatchObject({
    runs: expect.any(Number),
  });
});
