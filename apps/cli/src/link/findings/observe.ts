import { proxyFor } from '@kube-semaphore/cluster-auth';
import { endpointSliceKind, namespaceKind } from '@kube-semaphore/kube-objects';
import { serviceNameLabel } from '@kube-semaphore/service-mirror/names';
import { parseYaml } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { calicoApi, type Pool, readPools } from '../../clusters/calico.ts';
import type { Context } from '../../clusters/contexts.ts';
import {
  listObjects,
  type NodeFacts,
  readAs,
  readConfigMap,
  readGroups,
  readNodes,
  readObject,
  type Run,
  valueOf,
} from '../../clusters/objects.ts';
import { readServiceCidrs } from '../../clusters/services.ts';
import { clusterDomain } from '../../corefile/edit.ts';
import { type DnsConfig, type DnsKind, dnsKindOf, serversOf } from '../../dns/config.ts';
import { readDnsConfig } from '../../dns/read.ts';

const text = z.nullish(z.string());

const schemas = {
  version: z.object({ gitVersion: z.string() }),
  blocks: z.object({ items: z.array(z.unknown()) }),
  installation: z.object({
    spec: z.object({ cni: z.nullish(z.object({ ipam: z.nullish(z.object({ type: text })) })) }),
  }),
  felix: z.object({
    spec: z.object({
      wireguardEnabled: z.nullish(z.boolean()),
      wireguardEnabledV6: z.nullish(z.boolean()),
      wireguardListeningPort: z.nullish(z.number()),
      wireguardListeningPortV6: z.nullish(z.number()),
    }),
  }),
  deployment: z.object({
    spec: z.object({ template: z.object({ spec: z.object({ containers: z.array(z.object({ image: text })) }) }) }),
  }),
} as const;

const kubeadm = z.object({
  networking: z.nullish(z.object({ podSubnet: text, serviceSubnet: text })),
});
const joinKubeconfig = z.object({ clusters: z.array(z.object({ cluster: z.object({ server: z.string() }) })) });

type Felix = z.infer<typeof schemas.felix>['spec'];

type ObservedNode = Pick<NodeFacts, 'name' | 'podCidrs' | 'addresses' | 'internalIps'> & {
  /** Of its ends of Calico's tunnels. */
  readonly tunnelIps: readonly string[];
};

/** The annotations of a Node with the addresses of Calico's tunnels. */
const CALICO_TUNNEL = /^projectcalico\.org\/IPv[46](?:IPIPTunnel|VXLANTunnel|WireguardInterface)Addr$/;

/** What the API server of a context says. Undefined: it has no such object. */
export type Observed = {
  readonly context: string;
  /** As in the kubeconfig. */
  readonly server: string;
  /** We reach the server through a proxy, of the kubeconfig or of the environment. */
  readonly viaProxy: boolean;
  readonly version: string;
  /** Of the namespace kube-system: no other cluster has it. */
  readonly uid: string;
  readonly groups: ReadonlySet<string>;
  readonly nodes: readonly ObservedNode[];
  /** The endpoints of the Service default/kubernetes. */
  readonly apiServerIps: readonly string[];
  /** Of Calico; empty without it. */
  readonly pools: readonly Pool[];
  readonly hasBlocks: boolean;
  readonly ipamType: string | undefined;
  readonly felix: Felix | undefined;
  readonly serviceCidrs: readonly string[] | undefined;
  /** What kubeadm was told. */
  readonly podSubnet: string | undefined;
  readonly serviceSubnet: string | undefined;
  /** Where kubeadm lets nodes join. */
  readonly joinServer: string | undefined;
  /** The image of CoreDNS, where kubeadm and others put it. */
  readonly dnsImage: string | undefined;
  readonly dns: {
    readonly kind: DnsKind;
    /** In which Pods ask them. */
    readonly servers: readonly string[];
    /** Of the cluster, with the dot at its end; undefined: that is not known. */
    readonly domain: string | undefined;
  };
};

const ofKubernetes = { namespace: 'default', labelSelector: `${serviceNameLabel}=kubernetes` };

/** Reads a cluster. @throws {Error} with a sentence that says what to do, if something can't be read */
export async function observe(context: Context, run: Run): Promise<Observed> {
  const groups = valueOf(await readGroups(context, run));
  const calico = calicoApi(groups);
  const at = async <T>(path: string, schema: z.ZodMiniType<T>): Promise<T | undefined> =>
    valueOf(await readAs(context, path, schema, run));
  const [
    version,
    namespace,
    nodes,
    pools,
    installation,
    felix,
    blocks,
    cidrs,
    betaCidrs,
    kubeadmConfig,
    clusterInfo,
    slices,
    coredns,
    dnsConfig,
  ] = await Promise.all([
    at('/version', schemas.version),
    readObject(context, namespaceKind, { name: 'kube-system' }, run).then(valueOf),
    readNodes(context, run).then(valueOf),
    readPools(context, groups, run).then(valueOf),
    at('/apis/operator.tigera.io/v1/installations/default', schemas.installation),
    calico && at(`/apis/${calico}/felixconfigurations/default`, schemas.felix),
    at('/apis/crd.projectcalico.org/v1/ipamblocks?limit=1', schemas.blocks),
    readServiceCidrs(context, 'v1', run).then(valueOf),
    readServiceCidrs(context, 'v1beta1', run).then(valueOf),
    readConfigMap(context, 'kube-system/kubeadm-config', 'ClusterConfiguration', run).then(valueOf),
    readConfigMap(context, 'kube-public/cluster-info', 'kubeconfig', run).then(valueOf),
    listObjects(context, endpointSliceKind, ofKubernetes, run).then(valueOf),
    at('/apis/apps/v1/namespaces/kube-system/deployments/coredns', schemas.deployment),
    readDnsConfig(context, groups, run).then(valueOf),
  ]);
  if (version === undefined || namespace === undefined)
    throw new Error(
      `${context.name}: ${context.server} is not a Kubernetes API server: check the server in the kubeconfig`,
    );
  const networking = yamlIn(kubeadmConfig, kubeadm)?.networking;
  return {
    context: context.name,
    server: context.server,
    viaProxy: isViaProxy(context),
    version: version.gitVersion,
    uid: namespace.metadata.uid,
    groups,
    nodes: nodes.map(({ annotations, ...node }) => ({
      ...node,
      tunnelIps: Object.entries(annotations).flatMap(([key, ip]) => (CALICO_TUNNEL.test(key) ? [ip] : [])),
    })),
    apiServerIps: slices.flatMap(({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses)),
    pools,
    hasBlocks: (blocks?.items.length ?? 0) > 0,
    ipamType: installation?.spec.cni?.ipam?.type ?? undefined,
    felix: felix?.spec,
    serviceCidrs: cidrs ?? betaCidrs,
    podSubnet: networking?.podSubnet ?? undefined,
    serviceSubnet: networking?.serviceSubnet ?? undefined,
    joinServer: yamlIn(clusterInfo, joinKubeconfig)?.clusters[0]?.cluster.server,
    dnsImage: coredns?.spec.template.spec.containers[0]?.image ?? undefined,
    dns: dnsOf(dnsConfig),
  };
}

function dnsOf(config: DnsConfig): Observed['dns'] {
  const servers = serversOf(config);
  return {
    kind: dnsKindOf(config),
    servers: servers.ok ? servers.value.map(({ name }) => name) : [],
    domain: clusterDomain(config.corefile?.text ?? config.openShift ?? ''),
  };
}

function isViaProxy({ server, reference }: Context): boolean {
  const own = reference.kind === 'context' ? reference.context.cluster['proxy-url'] : undefined;
  return (own ?? proxyFor(new URL(server), process.env)) !== undefined;
}

/** Others may have changed it since kubeadm wrote it; then it tells nothing. */
function yamlIn<T extends z.ZodMiniType>(source: string | undefined, schema: T): z.output<T> | undefined {
  const parsed = source === undefined ? undefined : parseYaml(source);
  const checked = parsed?.ok === true ? schema.safeParse(parsed.value) : undefined;
  return checked?.success === true ? checked.data : undefined;
}
