import {
  type Asked,
  type ClusterKind,
  clusterKind,
  type Endpoint,
  endpointOf,
  type RealClusterOptions,
  type Reply,
  send,
  startRealCluster,
  WatchStream,
} from '@kube-semaphore/testkit';
import { afterAll, beforeAll, describe } from 'vitest';
import {
  type EmbeddedClusterOptions,
  type KubeObject,
  startEmbeddedCluster,
  type TestCluster,
} from '../../src/index.ts';

/** The embedded server, and the real one in the `real` project. */
const kinds: readonly ClusterKind[] = clusterKind() === 'real' ? ['real', 'embedded'] : ['embedded'];

/** A server that contracts run on, and how they reach it. */
export type Server = {
  readonly cluster: TestCluster;
  readonly endpoint: Endpoint;
  /** Sends a request, by default as a ServiceAccount with all rights. */
  send(method: string, path: string, asked?: Asked): Promise<Reply>;
  watch(path: string, asked?: Asked): Promise<WatchStream>;
  /** Requests a compaction. A real server started for this compacts all the time, so wait for the effect. */
  compact(): void;
  /** Creates an empty namespace for a contract, and returns its name. */
  namespace(): Promise<string>;
};

/** Options for the servers of a contract. */
type Differences = Pick<RealClusterOptions, 'apiserverFlags' | 'controllerManager'> &
  Pick<EmbeddedClusterOptions, 'ipFamilies'>;

/**
 * Defines contracts, each of which runs against every server and asserts the same, so that the embedded server can't
 * drift into fantasy: without the real one the expectations are what it was seen to do.
 */
export function onEachServer(
  title: string,
  define: (server: () => Server) => void,
  differences: Differences = {},
): void {
  describe.each(kinds)(`${title}: the %s server`, (kind) => {
    let server: Server | undefined;
    beforeAll(async () => {
      server = await start(kind, differences);
    });
    afterAll(async () => {
      server?.endpoint.agent.destroy();
      await server?.cluster.stop();
    });
    define(() => server!);
  });
}

async function start(kind: ClusterKind, { ipFamilies, ...real }: Differences): Promise<Server> {
  const name = 'contract';
  const embedded =
    kind === 'embedded' ? await startEmbeddedCluster({ name, ...(ipFamilies && { ipFamilies }) }) : undefined;
  const cluster = embedded ?? (await startRealCluster({ name, ...real }));
  const { token } = await cluster.account('contract', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]);
  const endpoint = await endpointOf(cluster, token);
  let namespaces = 0;
  return {
    cluster,
    endpoint,
    send: (method, path, asked) => send(endpoint, method, path, asked),
    watch: (path, asked) => WatchStream.open(endpoint, path, asked),
    compact: () => embedded?.compact(),
    async namespace() {
      namespaces += 1;
      const { metadata } = await cluster.admin.create('/api/v1/namespaces', {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: `contract-${namespaces}` },
      });
      return metadata.name;
    },
  };
}

/** The JSON of a reply. */
export const read = ({
  body,
}: Reply): KubeObject & { items: KubeObject[]; code: number; reason: string; message: string } =>
  JSON.parse(body.toString()) as ReturnType<typeof read>;

type Details = { causes?: { reason: string; field?: string }[] };

/**
 * What a client acts on in a refusal: the status code, the reason, and which fields are wrong in which way; once, while
 * the real server finds several things wrong with an empty text.
 */
export function refusal(reply: Reply): { status: number; reason: string; causes?: string[] } {
  const { reason, details } = read(reply) as { reason: string; details?: Details };
  const causes = details?.causes?.map((cause) => `${cause.field ?? ''} ${cause.reason}`.trim());
  return { status: reply.status, reason, ...(causes && { causes: [...new Set(causes)] }) };
}
