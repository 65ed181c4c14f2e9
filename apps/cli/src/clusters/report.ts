import { printable } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import { type AppStatus, readAppStatus } from './app-status.ts';
import type { Context } from './contexts.ts';
import { failureOf } from './failure.ts';
import { get, RequestError } from './request.ts';

/** The apps, by the label `app` of their Pods. */
export const apps = ['semaphore-policy', 'semaphore-service-mirror', 'semaphore-wireguard'] as const;

export type App = (typeof apps)[number];

/** A Pod of one of the apps. */
export type AppPod = {
  readonly app: App;
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** Its service account. */
  readonly account: string;
  /** Of its first container. */
  readonly image?: string | undefined;
  readonly ready: boolean;
  /** What it says, or why that can't be read. */
  readonly status: AppStatus | { readonly failure: string };
};

/** What is known of the apps in one cluster. */
export type ClusterReport = {
  /** The name of its context. */
  readonly cluster: string;
  /** Why its Pods aren't known, as a sentence. */
  readonly failure?: string;
  /** Sorted by app and name. */
  readonly pods: readonly AppPod[];
};

/** How the apps in a cluster call it. */
export const ownNames = ({ pods }: ClusterReport): readonly string[] => [
  ...new Set(pods.flatMap(({ status }) => ('failure' in status ? [] : (status.config.name ?? [])))),
];

const podList = z.object({
  metadata: z.object({ continue: z.optional(z.string()) }),
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string(), namespace: z.string(), labels: z.record(z.string(), z.string()) }),
      spec: z.object({
        nodeName: z.optional(z.string()),
        serviceAccountName: z.optional(z.string()),
        containers: z.array(
          z.object({
            image: z.optional(z.string()),
            ports: z.optional(z.array(z.object({ name: z.optional(z.string()), containerPort: z.number() }))),
          }),
        ),
      }),
      status: z.object({ conditions: z.optional(z.array(z.object({ type: z.string(), status: z.string() }))) }),
    }),
  ),
});

type Pod = z.infer<typeof podList>['items'][number];

/** For a list; and for the status of a Pod, which the API server asks for us. */
const TIMEOUT_MS = 10_000;

/** A mesh has an agent on each of a thousand nodes. */
const CONCURRENCY = 16;

const PODS = `/api/v1/pods?limit=500&labelSelector=${encodeURIComponent(`app in (${apps.join(',')})`)}`;

/** Reads the status of all Pods of our apps in a cluster. Rejects only when `signal` is aborted. */
export async function readCluster(
  context: Context,
  { signal }: { readonly signal: AbortSignal },
): Promise<ClusterReport> {
  const { name: cluster } = context;
  const request = (path: string): Promise<string> => get(context, path, { signal, timeoutMs: TIMEOUT_MS });
  try {
    const pods = await listPods(request);
    const found: AppPod[] = [];
    const left = pods.values();
    const worker = async (): Promise<void> => {
      for (const pod of left) found.push(await readPod(pod, request));
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    return { cluster, pods: found.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) };
  } catch (error) {
    signal.throwIfAborted();
    const known = error instanceof RequestError ? error : new RequestError((error as Error).message);
    return { cluster, failure: failureOf(context, known), pods: [] };
  }
}

const keyOf = ({ app, namespace, name }: AppPod): string => `${app} ${namespace}/${name}`;

async function listPods(request: (path: string) => Promise<string>): Promise<readonly Pod[]> {
  const found: Pod[] = [];
  let token: string | undefined;
  do {
    const page = token === undefined ? PODS : `${PODS}&continue=${encodeURIComponent(token)}`;
    const parsed = podList.safeParse(JSON.parse(await request(page)));
    if (!parsed.success) throw new RequestError('the list of Pods is not valid', { cause: parsed.error });
    found.push(...parsed.data.items);
    token = parsed.data.metadata.continue;
  } while (token !== undefined && token !== '');
  return found;
}

async function readPod({ metadata, spec, status }: Pod, request: (path: string) => Promise<string>): Promise<AppPod> {
  const { name, namespace, labels } = metadata;
  const port = spec.containers.flatMap(({ ports = [] }) => ports).find((each) => each.name === 'http')?.containerPort;
  const ready = status.conditions?.some((each) => each.type === 'Ready' && each.status === 'True') === true;
  const { nodeName: node = '', serviceAccountName: account = 'default' } = spec;
  const pod = { app: labels['app'] as App, namespace, name, node, account, image: spec.containers[0]?.image, ready };
  if (port === undefined) return { ...pod, status: { failure: 'it has no port with the name http' } };
  try {
    const page = await request(`/api/v1/namespaces/${namespace}/pods/${name}:${port}/proxy/status`);
    return { ...pod, status: readAppStatus(page) };
  } catch (error) {
    return { ...pod, status: { failure: printable((error as Error).message) } };
  }
}
