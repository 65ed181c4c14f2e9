import { parseYaml } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { calicoApi } from '../clusters/calico.ts';
import { failureOf } from '../clusters/failure.ts';
import { get, RequestError } from '../clusters/request.ts';

const texts = z.nullish(z.array(z.string()));
const text = z.nullish(z.string());

const pool = z.object({
  spec: z.object({ cidr: z.string(), disabled: z.nullish(z.boolean()), allowedUses: texts }),
});

const schemas = {
  version: z.object({ gitVersion: z.string() }),
  namespace: z.object({ metadata: z.object({ uid: z.string() }) }),
  groups: z.object({ groups: z.array(z.object({ name: z.string() })) }),
  nodes: z.object({
    metadata: z.object({ continue: text }),
    items: z.array(
      z.object({
        metadata: z.object({ name: z.string(), annotations: z.nullish(z.record(z.string(), z.string())) }),
        spec: z.object({ podCIDRs: texts }),
        status: z.object({ addresses: z.nullish(z.array(z.object({ address: z.string() }))) }),
      }),
    ),
  }),
  pools: z.object({ items: z.array(pool) }),
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
  serviceCidrs: z.object({ items: z.array(z.object({ spec: z.object({ cidrs: z.array(z.string()) }) })) }),
  slices: z.object({
    items: z.array(z.object({ endpoints: z.nullish(z.array(z.object({ addresses: z.array(z.string()) }))) })),
  }),
  configMap: z.object({ data: z.nullish(z.record(z.string(), z.string())) }),
} as const;

const kubeadm = z.object({
  networking: z.nullish(z.object({ podSubnet: text, serviceSubnet: text })),
});
const joinKubeconfig = z.object({ clusters: z.array(z.object({ cluster: z.object({ server: z.string() }) })) });

type Pool = z.infer<typeof pool>['spec'];
type Felix = z.infer<typeof schemas.felix>['spec'];

type ObservedNode = {
  readonly name: string;
  readonly podCidrs: readonly string[];
  readonly addresses: readonly string[];
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
  /** The kubeconfig reaches the server through a proxy. */
  readonly viaProxy: boolean;
  readonly version: string;
  /** Of the namespace kube-system: no other cluster has it. */
  readonly uid: string;
  readonly groups: ReadonlySet<string>;
  readonly nodes: readonly ObservedNode[];
  /** The endpoints of the Service default/kubernetes. */
  readonly apiServerIps: readonly string[];
  /** Of Calico. */
  readonly pools: readonly Pool[] | undefined;
  readonly hasBlocks: boolean;
  readonly ipamType: string | undefined;
  readonly felix: Felix | undefined;
  readonly serviceCidrs: readonly string[] | undefined;
  /** What kubeadm was told. */
  readonly podSubnet: string | undefined;
  readonly serviceSubnet: string | undefined;
  /** Where kubeadm lets nodes join. */
  readonly joinServer: string | undefined;
};

const KUBERNETES_SLICES =
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes';

const TIMEOUT_MS = 10_000;

/** Reads a cluster. @throws {Error} with a sentence that says what to do, if something can't be read */
export async function observe(context: Context, { signal }: { readonly signal: AbortSignal }): Promise<Observed> {
  const read = async <T extends z.ZodMiniType>(path: string, schema: T): Promise<z.output<T>> => {
    try {
      const parsed = schema.safeParse(JSON.parse(await get(context, path, { signal, timeoutMs: TIMEOUT_MS })));
      if (!parsed.success) throw new RequestError(`the answer to ${path} is not valid`, { cause: parsed.error });
      return parsed.data;
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof RequestError ? error : new RequestError((error as Error).message, { cause: error });
    }
  };
  const readIfAny = async <T extends z.ZodMiniType>(path: string, schema: T): Promise<z.output<T> | undefined> => {
    try {
      return await read(path, schema);
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return undefined;
      throw error;
    }
  };
  try {
    const { gitVersion } = await read('/version', schemas.version);
    const { uid } = (await read('/api/v1/namespaces/kube-system', schemas.namespace)).metadata;
    const groups = new Set((await read('/apis', schemas.groups)).groups.map(({ name }) => name));
    const served = <T extends z.ZodMiniType>(group: string, path: string, schema: T) =>
      groups.has(group) ? readIfAny(`/apis/${group}/${path}`, schema) : Promise.resolve(undefined);
    const calico = calicoApi(groups);
    const ofCalico = <T extends z.ZodMiniType>(path: string, schema: T) =>
      calico === undefined ? Promise.resolve(undefined) : readIfAny(`/apis/${calico}/${path}`, schema);
    const [installation, pools, felix, blocks, cidrs, betaCidrs, kubeadmConfig, clusterInfo, slices] =
      await Promise.all([
        served('operator.tigera.io', 'v1/installations/default', schemas.installation),
        ofCalico('ippools', schemas.pools),
        ofCalico('felixconfigurations/default', schemas.felix),
        served('crd.projectcalico.org', 'v1/ipamblocks?limit=1', schemas.blocks),
        served('networking.k8s.io', 'v1/servicecidrs', schemas.serviceCidrs),
        served('networking.k8s.io', 'v1beta1/servicecidrs', schemas.serviceCidrs),
        readIfAny('/api/v1/namespaces/kube-system/configmaps/kubeadm-config', schemas.configMap),
        readIfAny('/api/v1/namespaces/kube-public/configmaps/cluster-info', schemas.configMap),
        readIfAny(KUBERNETES_SLICES, schemas.slices),
      ]);
    const nodes: Observed['nodes'][number][] = [];
    let token = '';
    do {
      const { metadata, items } = await read(
        `/api/v1/nodes?limit=500&continue=${encodeURIComponent(token)}`,
        schemas.nodes,
      );
      nodes.push(
        ...items.map(({ metadata: { name, annotations }, spec, status }) => ({
          name,
          podCidrs: spec.podCIDRs ?? [],
          addresses: status.addresses?.map(({ address }) => address) ?? [],
          tunnelIps: Object.entries(annotations ?? {}).flatMap(([key, ip]) => (CALICO_TUNNEL.test(key) ? [ip] : [])),
        })),
      );
      token = metadata.continue ?? '';
    } while (token !== '');
    const networking = yamlIn(kubeadmConfig?.data?.['ClusterConfiguration'], kubeadm)?.networking;
    return {
      context: context.name,
      server: context.server,
      viaProxy: context.kube.getCurrentCluster()?.proxyUrl !== undefined,
      version: gitVersion,
      uid,
      groups,
      nodes,
      apiServerIps:
        slices?.items.flatMap(({ endpoints }) => endpoints?.flatMap(({ addresses }) => addresses) ?? []) ?? [],
      pools: pools?.items.map(({ spec }) => spec),
      hasBlocks: (blocks?.items.length ?? 0) > 0,
      ipamType: installation?.spec.cni?.ipam?.type ?? undefined,
      felix: felix?.spec,
      serviceCidrs: (cidrs ?? betaCidrs)?.items.flatMap(({ spec }) => spec.cidrs),
      podSubnet: networking?.podSubnet ?? undefined,
      serviceSubnet: networking?.serviceSubnet ?? undefined,
      joinServer: yamlIn(clusterInfo?.data?.['kubeconfig'], joinKubeconfig)?.clusters[0]?.cluster.server,
    };
  } catch (error) {
    if (error instanceof RequestError) throw new Error(failureOf(context, error), { cause: error });
    throw error;
  }
}

/** Others may have changed it since kubeadm wrote it; then it tells nothing. */
function yamlIn<T extends z.ZodMiniType>(source: string | undefined, schema: T): z.output<T> | undefined {
  const parsed = source === undefined ? undefined : parseYaml(source);
  const checked = parsed?.ok === true ? schema.safeParse(parsed.value) : undefined;
  return checked?.success === true ? checked.data : undefined;
}
