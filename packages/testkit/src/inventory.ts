import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestCluster } from '@kube-semaphore/embedded-apiserver';
import { clusterInventoryCrds } from './real/binaries.ts';

const NAMESPACE = 'fleet';

/** How the Secret reader of sigs.k8s.io/cluster-inventory-api gives a token, in JavaScript. */
const secretReader = (node: string): string => `#!${node}
const { spec } = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
const { clusterName } = spec.cluster.config;
const { SECRETS, TOKEN } = process.env;
const answer = await fetch(SECRETS + '/' + clusterName, { headers: { authorization: 'Bearer ' + TOKEN } });
if (!answer.ok) throw new Error('the Secret of ' + clusterName + ' was not read: ' + answer.status);
const { data } = await answer.json();
const status = { token: Buffer.from(data.token, 'base64').toString() };
console.log(JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }));
`;

type Profile = {
  readonly cluster: TestCluster;
  /** Of the cluster, for the plugin. */
  readonly token: string;
  /** Of the object. Default: the cluster's name. */
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** More fields of the status. */
  readonly status?: object;
};

/**
 * ClusterProfiles and Secrets in the namespace `fleet` of a cluster, and a plugin that reads these Secrets. The embedded API server
 * has no Secrets: there, ConfigMaps take their place.
 */
export class TestInventory {
  readonly #cluster: TestCluster;
  readonly #secrets: { readonly kind: string; readonly plural: string };

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
    const kind = cluster.kind === 'real' ? 'Secret' : 'ConfigMap';
    this.#secrets = { kind, plural: `${kind.toLowerCase()}s` };
  }

  /** Defines the kind, and makes the namespace. @returns the field `remotesFrom` of a config file */
  async begin(): Promise<object> {
    const { admin, dir, caFile, url } = this.#cluster;
    for (const crd of clusterInventoryCrds()) await this.#cluster.defineResource(crd);
    await admin.create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    const reader = await this.#cluster.account('secret-reader', [
      { apiGroups: [''], resources: [this.#secrets.plural], verbs: ['get'] },
    ]);
    const command = join(dir, 'secret-reader.mjs');
    await writeFile(command, secretReader(process.execPath), { mode: 0o755 });
    const env = [
      { name: 'SECRETS', value: `${url}${this.#secretsPath}` },
      { name: 'TOKEN', value: reader.token },
      { name: 'NODE_EXTRA_CA_CERTS', value: caFile },
    ];
    const execConfig = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command,
      args: null,
      env,
      provideClusterInfo: true,
    };
    const providersFile = join(dir, 'providers.json');
    await writeFile(providersFile, JSON.stringify({ providers: [{ name: 'secretreader', execConfig }] }));
    return { clusterProfiles: { namespace: NAMESPACE, providersFile } };
  }

  /** Adds a profile with its status, and a Secret of the same name with the token. */
  async add({ cluster, token, name = cluster.name, annotations = {}, status = {} }: Profile): Promise<void> {
    const { admin } = this.#cluster;
    await admin.create(this.#secretsPath, {
      apiVersion: 'v1',
      kind: this.#secrets.kind,
      metadata: { name },
      data: { token: Buffer.from(token).toString('base64') },
    });
    await admin.create(this.#path(), {
      apiVersion: 'multicluster.x-k8s.io/v1alpha1',
      kind: 'ClusterProfile',
      metadata: { name, annotations },
      spec: { clusterManager: { name: 'test' } },
    });
    const config = { name: 'client.authentication.k8s.io/exec', extension: { clusterName: name } };
    const access = {
      server: cluster.url,
      'certificate-authority-data': (await readFile(cluster.caFile)).toString('base64'),
      extensions: [config],
    };
    const all = { conditions: [], accessProviders: [{ name: 'secretreader', cluster: access }], ...status };
    const { status: code, body } = await admin.request('PATCH', `${this.#path(name)}/status`, { status: all });
    if (code !== 200) throw new Error(`the status of ${name} was not written: ${code} ${JSON.stringify(body)}`);
  }

  async annotate(name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
    const { status } = await this.#cluster.admin.request('PATCH', this.#path(name), { metadata: { annotations } });
    if (status !== 200) throw new Error(`${name} was not annotated: ${status}`);
  }

  async remove(name: string): Promise<void> {
    const { admin } = this.#cluster;
    await admin.delete(this.#path(name));
    await admin.delete(`${this.#secretsPath}/${name}`);
  }

  get #secretsPath(): string {
    return `/api/v1/namespaces/${NAMESPACE}/${this.#secrets.plural}`;
  }

  async clear(): Promise<void> {
    for (const { metadata } of await this.#cluster.admin.list(this.#path())) await this.remove(metadata.name);
  }

  #path(name?: string): string {
    const all = `/apis/multicluster.x-k8s.io/v1alpha1/namespaces/${NAMESPACE}/clusterprofiles`;
    return name === undefined ? all : `${all}/${name}`;
  }
}
