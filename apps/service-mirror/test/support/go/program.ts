import type { KubeObject, PolicyRule, TestAccount, TestClient, TestCluster } from '@kube-semaphore/embedded-apiserver';
import { eventually } from '@kube-semaphore/eventually';
import { clusterKind } from '@kube-semaphore/testkit';
import { MIRRORS, mirrorLabels } from '../mirror-process.ts';
import { readyAddresses, type Slice } from '../slices.ts';
import { upsert } from '../upsert.ts';

/** A remote Service, as the Go program saw it. */
export type GoSource = {
  readonly name: string;
  readonly headless?: boolean;
  readonly addresses: readonly string[];
  readonly ports?: readonly GoPort[];
};

type GoPort = { readonly name: string; readonly port: number; readonly targetPort: number };

const crud = ['get', 'list', 'watch', 'create', 'update', 'delete'];
const core: PolicyRule = { apiGroups: [''], resources: ['services', 'endpoints'], verbs: crud };

const slices = { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] };

/** The Role of the Go program's manifests, for the namespace of the mirrors: of its last releases, and of those before. */
export const goRules = { latest: [core, { ...slices, verbs: crud }], older: [core] } as const satisfies Record<
  string,
  readonly PolicyRule[]
>;

const seen: PolicyRule = { ...core, verbs: ['get', 'list', 'watch'] };

/** The ClusterRole of its manifests, for the remote cluster: of its last releases, and of those before. */
export const goRemoteRules = {
  latest: [seen, { ...slices, verbs: seen.verbs }],
  older: [seen],
} as const satisfies Record<string, readonly PolicyRule[]>;

/** An account with these rights in the mirror namespace, and none elsewhere. */
export async function accountInNamespace(
  cluster: TestCluster,
  name: string,
  rules: readonly PolicyRule[],
): Promise<TestAccount> {
  const account = await cluster.account(name, []);
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const at = `/apis/${apiVersion}/namespaces/${MIRRORS}`;
  await cluster.admin.create(`${at}/roles`, { apiVersion, kind: 'Role', metadata: { name }, rules });
  await cluster.admin.create(`${at}/rolebindings`, {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', namespace: 'kube-system', name }],
  });
  return account;
}

/** The controllers that turn its objects into those that kube-proxy uses. */
export const controllers = ['endpointslice-mirroring-controller'] as const;

const derivedBy = 'endpointslicemirroring-controller.k8s.io';
const defaultPorts: readonly GoPort[] = [{ name: 'http', port: 80, targetPort: 8080 }];

/**
 * What the Go program does to the mirror namespace, as far as a migration depends on it: a Service and an Endpoints object
 * for each source, under its labels; of a Service that is there it writes the ports. Kubernetes makes slices of the
 * Endpoints; on an embedded cluster, which has no controllers, this does.
 */
export class GoProgram {
  readonly #local: TestCluster;
  readonly #client: TestClient;

  constructor(local: TestCluster, { token }: Pick<TestAccount, 'token'>) {
    this.#local = local;
    this.#client = local.clientFor(token);
  }

  /** Resolves when its Endpoints have slices. */
  async sync(sources: readonly GoSource[]): Promise<void> {
    for (const source of sources) {
      await this.#writeService(source);
      const endpoints = await this.#writeEndpoints(source);
      if (clusterKind() === 'embedded') await this.#derive(source, endpoints);
    }
    const wanted = sources.flatMap(({ name, addresses }) =>
      addresses.length === 0 ? [] : [[mirrorName(name), addresses.toSorted()] as const],
    );
    await eventually(() => this.#derived(), Object.fromEntries(wanted));
  }

  async #writeService({ name, headless = false, ports = defaultPorts }: GoSource): Promise<void> {
    const object = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: mirrorName(name), labels: mirrorLabels },
      spec: { ports, ...(headless && { clusterIP: 'None' }) },
    };
    await upsert(this.#client, `/api/v1/namespaces/${MIRRORS}/services`, object, (there) => ({
      ...there,
      spec: { ...(there['spec'] as object), ports },
    }));
  }

  #writeEndpoints({ name, addresses, ports = defaultPorts }: GoSource): Promise<KubeObject> {
    const metadata = { name: mirrorName(name), namespace: MIRRORS, labels: mirrorLabels };
    const subsets = [
      {
        addresses: addresses.map((ip) => ({ ip, nodeName: 'n1' })),
        ports: ports.map((port) => ({ name: port.name, port: port.targetPort, protocol: 'TCP' })),
      },
    ];
    return upsert(this.#client, `/api/v1/namespaces/${MIRRORS}/endpoints`, {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata,
      ...(addresses.length > 0 && { subsets }),
    });
  }

  async #derive({ addresses, ports = defaultPorts }: GoSource, { metadata: { name, uid } }: KubeObject): Promise<void> {
    const families = {
      IPv4: addresses.filter((ip) => !ip.includes(':')),
      IPv6: addresses.filter((ip) => ip.includes(':')),
    };
    for (const [addressType, ips] of Object.entries(families)) {
      if (ips.length === 0) continue;
      await this.#local.admin.create(`/apis/discovery.k8s.io/v1/namespaces/${MIRRORS}/endpointslices`, {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: `${name}-${addressType.toLowerCase()}`,
          labels: {
            ...mirrorLabels,
            'kubernetes.io/service-name': name,
            'endpointslice.kubernetes.io/managed-by': derivedBy,
          },
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Endpoints', name, uid, controller: true, blockOwnerDeletion: true },
          ],
        },
        addressType,
        endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
        ports: ports.map((port) => ({ name: port.name, port: port.targetPort, protocol: 'TCP' })),
      });
    }
  }

  /** The addresses in such slices, by their Services: of two families there are two slices, and one comes first. */
  async #derived(): Promise<Readonly<Record<string, readonly string[]>>> {
    const selector = encodeURIComponent(`endpointslice.kubernetes.io/managed-by=${derivedBy}`);
    const derived = await this.#local.admin.list(
      `/apis/discovery.k8s.io/v1/namespaces/${MIRRORS}/endpointslices?labelSelector=${selector}`,
    );
    return readyAddresses(derived as unknown as readonly Slice[]);
  }
}

/** Of Services in default. */
export const mirrorName = (name: string): string => `c2-default-73736d-${name}`;
