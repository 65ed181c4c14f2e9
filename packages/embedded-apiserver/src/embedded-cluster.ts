import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from './client/account.ts';
import { bootstrap, seed } from './bootstrap.ts';
import { createAuthority } from './client/certificates.ts';
import { ClusterIps } from './kinds/cluster-ips.ts';
import { Identities } from './access/identity.ts';
import { writeKubeconfig } from './client/kubeconfig.ts';
import type { LoggedRequest } from './http/request-log.ts';
import { ApiServer } from './http/server.ts';
import type { Resource } from './kinds/resources.ts';
import type { IpFamily } from './kinds/service-spec.ts';
import type { Change } from './storage/collection.ts';
import { Storage } from './storage/storage.ts';
import { createAgent, createTestClient } from './client/test-client.ts';
import type { KubeObject, TestCluster } from './test-cluster.ts';

/** Options of an embedded cluster. */
export type EmbeddedClusterOptions = {
  readonly name: string;
  /** Default: any free one. */
  readonly port?: number;
  /**
   * Takes `sendInitialEvents` and doesn't know it, so that the bookmark which ends the initial events never comes, as
   * with Calico's aggregated API server (projectcalico/calico#11114): for all resources, or those of some API groups.
   */
  readonly ignoreSendInitialEvents?: boolean | readonly string[];
  /** Serves JSON only. Default: false. */
  readonly jsonOnly?: boolean;
  /** The families that Services may have, the primary one first. Default: IPv4 and IPv6, as in the real cluster. */
  readonly ipFamilies?: readonly IpFamily[];
  /** How often a watch with `allowWatchBookmarks` gets a bookmark. Default: a minute, as from kube-apiserver. */
  readonly bookmarkIntervalMs?: number;
  /** What a mutating webhook makes of each object that a request creates or changes, besides statuses. Default: nothing. */
  readonly mutate?: (object: KubeObject) => KubeObject;
};

/** One write, as `EmbeddedCluster.onWrite` reports it. */
type Write = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly group: string;
  /** The resource's plural name. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  /** The object as it was written, or its last state before the deletion; decoded on each call. */
  object(): KubeObject;
};

/** A {@link TestCluster} in this process: tests can inspect its requests and compact its history. */
export interface EmbeddedCluster extends TestCluster {
  readonly kind: 'embedded';
  /** All answered requests, in the order of the answers. A watch is answered when it begins. */
  requests(): readonly LoggedRequest[];
  /** Forgets the requests so far. */
  clearRequests(): void;
  /** Calls `listener` for each change of any object, before the writer is answered, until the result is called. */
  onWrite(listener: (write: Write) => void): () => void;
  /**
   * Forgets all history, so that every older resourceVersion and continue token is answered 410. Watches that are open
   * go on.
   */
  compact(): void;
  /** Resets all connections. */
  disconnect(): void;
  /** Creates objects without a request each, for tests that need thousands; their status is taken over. */
  seed(objects: Iterable<KubeObject>): void;
}

/** Starts an API server in this process, with the namespaces default and kube-system and the role cluster-admin. */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const { name, port = 0, ignoreSendInitialEvents = false, jsonOnly = false, bookmarkIntervalMs = 60_000 } = options;
  const storage = new Storage(new ClusterIps(options.ipFamilies ?? ['IPv4', 'IPv6']));
  const identities = new Identities(storage);
  bootstrap(storage);
  let log: LoggedRequest[] = [];
  const behaviour = {
    ignoreSendInitialEvents: (group: string) =>
      typeof ignoreSendInitialEvents === 'boolean' ? ignoreSendInitialEvents : ignoreSendInitialEvents.includes(group),
    jsonOnly,
    bookmarkIntervalMs,
    mutate: options.mutate ?? ((object: KubeObject) => object),
  };
  const authority = await createAuthority();
  const certificate = await authority.issue({
    usage: 'server',
    commonName: 'kube-apiserver',
    dnsNames: ['localhost'],
    ips: ['127.0.0.1'],
  });
  const server = new ApiServer({ storage, identities, behaviour, log: (entry) => log.push(entry) }, certificate);
  await server.listen(port);

  const { caPem } = authority;
  const url = `https://127.0.0.1:${server.port}`;
  const dir = await mkdtemp(join(tmpdir(), `kube-semaphore-${name}-`));
  const caFile = join(dir, 'ca.crt');
  await writeFile(caFile, caPem);
  const agent = createAgent(caPem);
  const clientFor = (token: string) => createTestClient({ url, agent, token });
  const admin = clientFor(identities.adminToken);
  const adminKubeconfig = await writeKubeconfig(join(dir, 'admin.kubeconfig'), {
    name,
    url,
    caPem,
    credentials: { token: identities.adminToken },
  });

  return {
    name,
    kind: 'embedded',
    url,
    caFile,
    dir,
    admin,
    adminKubeconfig,
    clientFor,
    account: (account, rules) => createAccount({ clusterName: name, url, caPem, dir, admin }, account, rules),
    defineResource: async (crd) => {
      await admin.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    },
    requests: () => log,
    clearRequests() {
      log = [];
    },
    onWrite: (listener) => storage.onChange((resource, change) => listener(writeOf(resource, change))),
    compact: () => storage.compact(),
    disconnect: () => server.disconnect(),
    seed(objects) {
      for (const object of objects) seed(storage, object);
    },
    async restart() {
      await server.close();
      agent.destroy();
      storage.compact();
      await server.listen(server.port);
    },
    async stop() {
      await server.close();
      agent.destroy();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function writeOf({ group, plural }: Resource, { type, object }: Change): Write {
  const { namespace, name, revision } = object;
  const resourceVersion = String(revision);
  return { type, group, resource: plural, namespace, name, resourceVersion, object: () => object.object() };
}
