import { X509Certificate } from 'node:crypto';
import * as z from 'zod/mini';
import type { Context } from '../clusters/contexts.ts';
import { failureOf } from '../clusters/failure.ts';
import type { ClusterReport } from '../clusters/report.ts';
import { ask, type Asking, RequestError } from '../clusters/request.ts';
import { readRights } from './rights.ts';

/** What was read, or why it couldn't be, as a sentence. Unknown is not empty. */
export type Known<T> = { readonly value: T } | { readonly failure: string };

export type NodeFacts = {
  readonly name: string;
  readonly podCidrs: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
};

/** An API server. */
type Server = {
  readonly major: number;
  readonly minor: number;
  /** How far its clock is ahead of ours. */
  readonly aheadMs: number;
  readonly readAtMs: number;
  /** When its certificate expires, and your credentials. */
  readonly expiries: readonly { readonly what: string; readonly untilMs: number }[];
};

/** A Service that is copied from another cluster. */
type Mirror = { readonly namespace: string; readonly name: string; readonly hasReadyEndpoint: boolean };

/** What the API server of a cluster says, besides our apps. */
export type Facts = {
  readonly server: Known<Server>;
  readonly nodes: Known<readonly NodeFacts[]>;
  /** Calico's; empty without Calico. */
  readonly pools: Known<readonly { readonly cidr: string; readonly disabled: boolean }[]>;
  /** Undefined: CoreDNS has none at the usual place. */
  readonly corefile: Known<string | undefined>;
  readonly mirrors: Known<readonly Mirror[]>;
  /** Rights that accounts of the apps lack, each as a sentence. */
  readonly lacking: Known<readonly string[]>;
};

/** What is known of a cluster. */
export type Reading = ClusterReport & { readonly facts: Facts };

const TIMEOUT_MS = 10_000;

/** Reads what the apps don't tell. Rejects only when `signal` is aborted. */
export async function readFacts(
  context: Context,
  { pods, failure }: ClusterReport,
  { signal }: { readonly signal: AbortSignal },
): Promise<Facts> {
  if (failure !== undefined) return unknown({ failure });
  const answer: Asking = (path, body) => ask(context, { path, body }, { signal, timeoutMs: TIMEOUT_MS });
  const known = async <T>(value: Promise<T>): Promise<Known<T>> => {
    try {
      return { value: await value };
    } catch (error) {
      signal.throwIfAborted();
      return {
        failure: failureOf(context, error instanceof RequestError ? error : new RequestError((error as Error).message)),
      };
    }
  };
  const [server, nodes, pools, corefile, mirrors, lacking] = await Promise.all([
    known(readServer(answer, context)),
    known(readNodes(answer)),
    known(readPools(answer)),
    known(readCorefile(answer)),
    known(readMirrors(answer)),
    known(readRights(answer, pods)),
  ]);
  return { server, nodes, pools, corefile, mirrors, lacking };
}

const unknown = (why: { readonly failure: string }): Facts => ({
  server: why,
  nodes: why,
  pools: why,
  corefile: why,
  mirrors: why,
  lacking: why,
});

const versionPage = z.object({ major: z.string(), minor: z.string() });

async function readServer(answer: Asking, context: Context): Promise<Server> {
  const askedAtMs = Date.now();
  const { body, dateMs, certificateUntilMs } = await answer('/version');
  const { major, minor } = parsed(versionPage, body);
  const readAtMs = Date.now();
  return {
    major: Number.parseInt(major, 10),
    minor: Number.parseInt(minor, 10),
    // The header has whole seconds, so half of one is missing on average.
    aheadMs: dateMs + 500 - (askedAtMs + readAtMs) / 2,
    readAtMs,
    expiries: [{ what: 'the certificate of the API server', untilMs: certificateUntilMs }, ...ownExpiry(context)],
  };
}

function ownExpiry({ kube, user }: Context): Server['expiries'] {
  const data = kube.getCurrentUser()?.certData;
  if (data === undefined) return [];
  const certificate = new X509Certificate(Buffer.from(data, 'base64'));
  return [{ what: `the certificate of the user "${user}"`, untilMs: certificate.validToDate.getTime() }];
}

const node = z.object({
  metadata: z.object({ name: z.string(), annotations: z.optional(z.record(z.string(), z.string())) }),
  spec: z.object({ podCIDR: z.optional(z.string()), podCIDRs: z.optional(z.array(z.string())) }),
});

async function readNodes(answer: Asking): Promise<readonly NodeFacts[]> {
  const nodes = await listed(answer, '/api/v1/nodes', node);
  return nodes.map(
    ({ metadata: { name, annotations = {} }, spec: { podCIDR, podCIDRs = podCIDR ? [podCIDR] : [] } }) => ({
      name,
      podCidrs: podCIDRs,
      annotations,
    }),
  );
}

const pool = z.object({ spec: z.object({ cidr: z.string(), disabled: z.optional(z.boolean()) }) });

async function readPools(answer: Asking) {
  const pools = await orWithout([], listed(answer, '/apis/crd.projectcalico.org/v1/ippools', pool));
  return pools.map(({ spec: { cidr, disabled = false } }) => ({ cidr, disabled }));
}

const configMap = z.object({ data: z.optional(z.record(z.string(), z.string())) });

async function readCorefile(answer: Asking): Promise<string | undefined> {
  const page = await orWithout(undefined, answer('/api/v1/namespaces/kube-system/configmaps/coredns'));
  return page === undefined ? undefined : parsed(configMap, page.body).data?.['Corefile'];
}

const MIRRORS = 'labelSelector=mirrored-svc%3Dtrue';
const named = z.object({ namespace: z.string(), name: z.string() });
const service = z.object({ metadata: named });
const slice = z.object({
  metadata: z.object({ namespace: z.string(), labels: z.record(z.string(), z.string()) }),
  endpoints: z.nullish(z.array(z.object({ conditions: z.optional(z.object({ ready: z.nullish(z.boolean()) })) }))),
});

async function readMirrors(answer: Asking): Promise<readonly Mirror[]> {
  const [services, slices] = await Promise.all([
    listed(answer, `/api/v1/services?${MIRRORS}`, service),
    listed(answer, `/apis/discovery.k8s.io/v1/endpointslices?${MIRRORS}`, slice),
  ]);
  const ready = new Set(
    slices
      .filter(({ endpoints }) => endpoints?.some(({ conditions }) => conditions?.ready !== false))
      .map(({ metadata: { namespace, labels } }) => `${namespace}/${labels['kubernetes.io/service-name']}`),
  );
  return services.map(({ metadata: { namespace, name } }) => ({
    namespace,
    name,
    hasReadyEndpoint: ready.has(`${namespace}/${name}`),
  }));
}

/** All objects of a kind, page by page. */
async function listed<T>(answer: Asking, path: string, schema: z.ZodMiniType<T>): Promise<readonly T[]> {
  const list = z.object({ metadata: z.object({ continue: z.optional(z.string()) }), items: z.array(schema) });
  const found: T[] = [];
  let token = '';
  do {
    const page = `${path}${path.includes('?') ? '&' : '?'}limit=500&continue=${encodeURIComponent(token)}`;
    const { metadata, items } = parsed(list, (await answer(page)).body);
    found.push(...items);
    token = metadata.continue ?? '';
  } while (token !== '');
  return found;
}

function parsed<T>(schema: z.ZodMiniType<T>, body: string): T {
  const { success, data, error } = schema.safeParse(JSON.parse(body));
  if (success) return data;
  throw new RequestError(`the answer is not valid: ${error.issues[0]?.path.join('.')}`);
}

/** @param value instead of a 404: the kind or the object doesn't exist */
async function orWithout<T>(value: T, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof RequestError && error.status === 404) return value;
    throw error;
  }
}
