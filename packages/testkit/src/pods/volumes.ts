import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { fieldAt, fieldsOf, type PodFacts } from './environment.ts';
import type { PodSpec, Projection, Volume } from './pod-spec.ts';
import { dataOfConfigMap, dataOfSecret, type FolderFiles, selectItems } from './volume-files.ts';

/** Where service accounts are mounted. */
const ACCOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Name of the volume that the API server gives every Pod, and its admission plugin isn't there to do that here. */
const ACCOUNT_VOLUME = 'kube-api-access';

/** As long as a token may be asked for at least is longer than any test: nobody rotates it here. */
const TOKEN_SECONDS = 3_607;

/** Where and for whom volumes are made. */
export type VolumeOptions = {
  readonly cluster: TestCluster;
  readonly pod: PodFacts;
  /** A folder of the Pod's own, for what it alone has. */
  readonly dir: string;
  /** What the Pod's node has for its file system. /dev is the machine's. */
  readonly hostDir: string;
};

/** The spec with the volume of its service account in all containers, unless it says that it wants none, or mounts one by itself. */
export function withAccount(spec: PodSpec): PodSpec {
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const mountsOne = all.some(({ volumeMounts = [] }) =>
    volumeMounts.some(({ mountPath }) => mountPath === ACCOUNT_PATH),
  );
  if (spec.automountServiceAccountToken === false || mountsOne) return spec;
  const mount = { name: ACCOUNT_VOLUME, mountPath: ACCOUNT_PATH, readOnly: true };
  const mounting = (containers: PodSpec['containers']) =>
    containers.map((each) => ({ ...each, volumeMounts: [...(each.volumeMounts ?? []), mount] }));
  return {
    ...spec,
    ...(spec.initContainers !== undefined && { initContainers: mounting(spec.initContainers) }),
    containers: mounting(spec.containers),
    volumes: [...(spec.volumes ?? []), accountVolume],
  };
}

const accountVolume: Volume = {
  name: ACCOUNT_VOLUME,
  projected: {
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: TOKEN_SECONDS } },
      // Every namespace has one, by a controller that isn't here: it holds the cluster's CA.
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
    ],
  },
};

/**
 * Makes the volumes of a Pod.
 *
 * @returns where each one is, by its name
 * @throws {Error} if the cluster lacks what one is made of, or its kind isn't known here
 */
export async function makeVolumes(
  volumes: readonly Volume[],
  options: VolumeOptions,
): Promise<ReadonlyMap<string, string>> {
  const folders = await Promise.all(
    volumes.map(async (volume) => [volume.name, await makeVolume(volume, options)] as const),
  );
  return new Map(folders);
}

async function makeVolume(volume: Volume, options: VolumeOptions): Promise<string> {
  const { hostPath, emptyDir, configMap, secret, projected } = volume;
  if (hostPath !== undefined) return onHost(hostPath, options.hostDir);
  const folder = join(options.dir, volume.name);
  await mkdir(folder, { recursive: true });
  if (emptyDir !== undefined) return folder;
  const sources = projected?.sources ?? [
    { ...(configMap && { configMap }), ...(secret && { secret: { ...secret, name: secret.secretName } }) },
  ];
  for (const source of sources) await writeFiles(folder, await filesOf(source, options));
  return folder;
}

/** A node has no files of its own here but in a folder that stands for them. */
async function onHost({ path, type = '' }: NonNullable<Volume['hostPath']>, hostDir: string): Promise<string> {
  if (path.startsWith('/dev/')) return path;
  const own = join(hostDir, path);
  if (type === 'DirectoryOrCreate' || type === '') await mkdir(own, { recursive: true, mode: 0o755 });
  return own;
}

async function filesOf(
  { configMap, secret, serviceAccountToken, downwardAPI }: Projection,
  { cluster, pod }: VolumeOptions,
): Promise<FolderFiles> {
  const objectAt = (kind: string, name: string) =>
    cluster.admin.get(`/api/v1/namespaces/${pod.namespace}/${kind}/${name}`);
  if (configMap?.name === 'kube-root-ca.crt')
    return selectItems({ 'ca.crt': await readFile(cluster.caFile) }, configMap.items);
  if (configMap !== undefined)
    return selectItems(dataOfConfigMap(await objectAt('configmaps', configMap.name)), configMap.items);
  if (secret !== undefined) return selectItems(dataOfSecret(await objectAt('secrets', secret.name)), secret.items);
  if (serviceAccountToken !== undefined)
    return { [serviceAccountToken.path]: await tokenFor(pod, serviceAccountToken, cluster) };
  if (downwardAPI === undefined) throw new Error('a volume has a source that is not known here');
  const fields = fieldsOf(pod);
  return Object.fromEntries(
    downwardAPI.items.map(({ path, fieldRef }) => [path, Buffer.from(fieldAt(fields, fieldRef.fieldPath))]),
  );
}

/** A token that the API server knows to be this Pod's, on this node, until the Pod is gone. */
async function tokenFor(
  { name, namespace, uid, serviceAccountName }: PodFacts,
  { expirationSeconds = TOKEN_SECONDS, audience }: NonNullable<Projection['serviceAccountToken']>,
  { admin }: TestCluster,
): Promise<Buffer> {
  const { status } = await admin.create(`/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccountName}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: {
      expirationSeconds,
      ...(audience !== undefined && { audiences: [audience] }),
      boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
    },
  });
  return Buffer.from((status as { token: string }).token);
}

async function writeFiles(folder: string, files: FolderFiles): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
}
