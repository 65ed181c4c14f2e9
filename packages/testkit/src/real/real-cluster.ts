import { writeFile } from 'node:fs/promises';
import {
  type Authority,
  type Certificate,
  createAccount,
  createAgent,
  createAuthority,
  createTestClient,
  type TestClient,
  type TestCluster,
  writeKubeconfig,
} from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import type { NetworkNode } from '@kube-semaphore/testnet';
import { rightsCount } from '../rights/counted.ts';
import { type AuditEvent, followAuditLog, readAuditLog, writeAuditPolicy } from './audit.ts';
import { findBinaries, type Kubernetes, type Tool } from './binaries.ts';
import { filesIn } from './components.ts';
import { ControlPlane } from './control-plane.ts';
import { defineResource } from './define-resource.ts';
import { backdateEstablished } from './established.ts';
import { writeIdentity, writeServerCertificates } from './identity.ts';
import { Supervision } from './supervision.ts';

/** What a real cluster is to be like. */
export type RealClusterOptions = {
  readonly name: string;
  /** The version of its programs. Default: what `KUBERNETES` says. */
  readonly kubernetes?: Kubernetes | undefined;
  /**
   * Run the controllers for EndpointSlices, owner references and namespaces, too, and those that are named besides, such
   * as `endpointslice-mirroring-controller`. Default false.
   */
  readonly controllerManager?: boolean | readonly string[];
  /** Flags of kube-controller-manager, as `apiserverFlags`. */
  readonly controllerManagerFlags?: Readonly<Record<string, string>>;
  /** Run kube-scheduler, too. Default false. */
  readonly scheduler?: boolean;
  /** The machine of a network that it runs on; others on the network reach it by `internalUrl`. Default this machine. */
  readonly machine?: NetworkNode;
  /** Addresses for the API server's certificate, besides those of its machine and of the loopback. */
  readonly serverIps?: readonly string[];
  /** Record every request for `auditLog()`. Default false. */
  readonly audit?: boolean;
  /** Flags of kube-apiserver, names without dashes to values; they win over the testkit's own. */
  readonly apiserverFlags?: Readonly<Record<string, string>>;
};

/** A {@link TestCluster} made of the real etcd and kube-apiserver, and what only those can do. */
export interface RealCluster extends TestCluster {
  readonly kind: 'real';
  /** The API server's URL on the network of its machine: `https://172.31.0.1:6443`. The same as `url` if it runs here. */
  readonly internalUrl: string;
  /** kubectl as it belongs to this server; it may be missing where KUBEBUILDER_ASSETS is set. */
  readonly kubectl: string;
  /** The socket file on which etcd answers without credentials, for tests that write what the API server refuses. */
  readonly etcdSocket: string;
  /** A certificate by which the API server knows its holder as `user`, a member of `groups`. */
  issueClientCertificate(user: string, groups?: readonly string[]): Promise<Certificate>;
  /** A client that authenticates with a certificate. */
  clientWith(certificate: Certificate): TestClient;
  /** The requests so far, oldest first. An answered request may be missing for a moment. Needs `audit`. */
  auditLog(): Promise<AuditEvent[]>;
  /** Of a function that returns the requests since its last call. Needs `audit`. */
  followAuditLog(): () => Promise<AuditEvent[]>;
  /** Kills the API server, as a crash would. It is down until `restart()`. */
  stopApiserver(): Promise<void>;
  /** Kills etcd and starts it again; resolves when the API server, which keeps running, serves again. */
  restartEtcd(): Promise<void>;
  /** Lets the cluster trust another CA, too: `caFile` has both. Who read the file before must read it again. */
  announceCa(): Promise<void>;
  /** Restarts the API server with certificates of the CA that was announced, which issues all later ones. */
  changeCa(): Promise<void>;
  /** Lets the cluster trust only the CA that was announced. */
  removeOldCa(): Promise<void>;
  /** Copies what etcd holds. Writes fail for the moment that it takes. */
  snapshotEtcd(): Promise<string>;
  /**
   * Takes the cluster back to a snapshot. resourceVersions that were given out since lie in the future then, but for
   * the few that the API server uses up itself when it starts.
   */
  restoreEtcd(snapshot: string): Promise<void>;
}

/** Made last of the system namespaces, none of which the server's readiness waits for. */
const lastNamespace = '/api/v1/namespaces/default';

/** Ready but for the two things that a new server puts off for a second: default roles and priority classes. */
const almostReady =
  '/readyz?exclude=poststarthook/rbac/bootstrap-roles' +
  '&exclude=poststarthook/scheduling/bootstrap-system-priority-classes';

/**
 * Starts a cluster from the programs that `findBinaries` finds. Its processes and files are gone after `stop()`, and
 * also when this process ends in any other way, SIGKILL included.
 *
 * @throws {Error} if a program is missing
 * @throws {ComponentError} with the end of its log if a program doesn't start
 */
export async function startRealCluster(options: RealClusterOptions): Promise<RealCluster> {
  const wanted: Tool[] = ['etcd', 'kube-apiserver'];
  if (options.controllerManager !== undefined && options.controllerManager !== false)
    wanted.push('kube-controller-manager');
  if (options.scheduler === true) wanted.push('kube-scheduler');
  const binaries = findBinaries(wanted, process.env, options.kubernetes);
  if (!binaries.ok) throw new Error(binaries.reason);

  const supervision = await Supervision.start();
  try {
    return await bringUp(options, supervision, binaries.paths);
  } catch (error) {
    await supervision.stop();
    throw error;
  }
}

async function bringUp(
  options: RealClusterOptions,
  supervision: Supervision,
  paths: Readonly<Record<Tool, string>>,
): Promise<RealCluster> {
  const { name, audit = false, apiserverFlags = {}, machine, serverIps = [] } = options;
  const { dir } = supervision;
  const files = filesIn(dir);
  const authority = await createAuthority();
  const { caPem } = authority;
  const machineIps = machine === undefined ? [] : [machine.ipv4, machine.ipv6];
  const ips = [...machineIps, ...serverIps];
  const adminToken = await writeIdentity(files, authority, ips);
  if (audit) await writeAuditPolicy(files);

  const agent = createAgent(caPem);
  const serves = (url: string) => isServing(createTestClient({ url, agent, token: adminToken }));
  const plane = new ControlPlane({ supervision, paths, files, audit, flags: apiserverFlags, machine, serves });
  await plane.start();

  const { url } = plane;
  const admin = createTestClient({ url, agent, token: adminToken });
  const adminKubeconfig = files.adminKubeconfig;
  const writeKubeconfigs = async (ca: string) => {
    const common = { name, caPem: ca, credentials: { token: adminToken } };
    await writeKubeconfig(adminKubeconfig, { ...common, url });
    await writeKubeconfig(files.controllerKubeconfig, { ...common, url: plane.internalUrl });
  };
  await writeKubeconfigs(caPem);
  const trust = async (ca: string) => {
    agent.options.ca = ca;
    await writeFile(files.ca, ca);
    await writeKubeconfigs(ca);
    await plane.restartClients();
  };
  const authorities = authoritiesOf(authority, {
    trust,
    replaceBy: async (other) => {
      await writeServerCertificates(files, other, ips);
      await plane.restartApiserver();
    },
  });
  // kube-controller-manager ends if it finds no healthy API server within ten seconds.
  if (options.controllerManager) await eventually(() => succeeds(admin, '/healthz'), true, { what: 'default roles' });
  await startControllers(plane, options);

  return {
    name,
    kind: 'real',
    url,
    internalUrl: plane.internalUrl,
    dir,
    caFile: files.ca,
    kubectl: paths.kubectl,
    etcdSocket: files.etcdSocket,
    admin,
    adminKubeconfig,
    async account(account, rules) {
      // Other users than the admin need the default roles for discovery.
      await eventually(() => succeeds(admin, '/readyz'), true, { what: 'default roles' });
      const made = await createAccount({ clusterName: name, url, caPem, dir, admin }, account, rules);
      await rightsCount(admin, { namespace: 'kube-system', name: account }, [{ namespace: undefined, rules }]);
      return made;
    },
    clientFor: (token) => createTestClient({ url, agent, token }),
    clientWith: (certificate) => createTestClient({ url, agent, certificate }),
    async defineResource(crd) {
      await defineResource(admin, crd);
      await backdateEstablished(admin, crd);
    },
    auditLog: () => readAuditLog(files),
    followAuditLog: () => followAuditLog(files),
    restart: () => plane.restartApiserver(),
    stopApiserver: () => plane.stopApiserver(),
    restartEtcd: () => plane.restartEtcd(),
    ...authorities,
    snapshotEtcd: () => plane.snapshot(),
    restoreEtcd: (snapshot) => plane.restore(snapshot),
    async stop() {
      agent.destroy();
      await supervision.stop();
    },
  };
}

async function startControllers(
  plane: ControlPlane,
  { controllerManager = false, controllerManagerFlags = {}, scheduler = false }: RealClusterOptions,
): Promise<void> {
  if (controllerManager !== false) {
    const others = controllerManager === true ? [] : controllerManager;
    await plane.startControllerManager({ others, flags: controllerManagerFlags });
  }
  if (scheduler) await plane.startScheduler();
}

type ChangesOfCa = {
  /** Lets the cluster trust these CAs. */
  readonly trust: (caPems: string) => Promise<void>;
  /** Gives the API server certificates of another CA. */
  readonly replaceBy: (other: Authority) => Promise<void>;
};

/** The CA of a cluster, and one that may take its place. */
function authoritiesOf(
  first: Authority,
  { trust, replaceBy }: ChangesOfCa,
): Pick<RealCluster, 'issueClientCertificate' | 'announceCa' | 'changeCa' | 'removeOldCa'> {
  let issuer = first;
  let next: Authority | undefined;
  return {
    issueClientCertificate: (user, groups = []) =>
      issuer.issue({ usage: 'client', commonName: user, organizations: groups }),
    async announceCa() {
      // OpenSSL finds an issuer by its name.
      next = await createAuthority('kube-semaphore other test CA');
      await trust(first.caPem + next.caPem);
    },
    async changeCa() {
      if (next === undefined) throw new Error('no CA was announced');
      issuer = next;
      await replaceBy(issuer);
    },
    removeOldCa: () => trust(issuer.caPem),
  };
}

const isServing = async (client: TestClient): Promise<boolean> =>
  (await succeeds(client, almostReady)) && (await succeeds(client, lastNamespace));

async function succeeds(client: TestClient, path: string): Promise<boolean> {
  const { status } = await client.request('GET', path);
  return status === 200;
}
