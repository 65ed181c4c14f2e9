import {
  endpointSliceKind,
  globalNetworkSetKind,
  type Kind,
  networkPolicyKind,
  nodeKind,
  serviceExportKind,
  serviceImportKind,
  serviceKind,
} from '@kube-semaphore/kube-objects';
import { companionLabel, labelDomains, nameLabel } from '@kube-semaphore/network-policies';
import {
  globalServiceLabel,
  mirroredServiceLabel,
  sliceManagedByLabel,
  sliceManager,
} from '@kube-semaphore/service-mirror/names';
import { cut, jsonPage, pageOf, printable } from '@kube-semaphore/text';
import { secretsOf } from '../clusters/access.ts';
import type { Context } from '../clusters/contexts.ts';
import { failureOf } from '../clusters/failure.ts';
import { listObjects, mapRead, type Read, request, type Run } from '../clusters/objects.ts';
import { httpPort, listOurPods } from '../clusters/report.ts';
import { get, type RequestError } from '../clusters/request.ts';
import { redact } from './redact.ts';

/** A file of the archive, with what to warn of; or why it could not be read. */
export type Gathered = { readonly path: string } & (
  | { readonly content: string; readonly warning?: string }
  | { readonly failure: string }
);

type Group = { readonly name: string; readonly kind: Kind; readonly labelSelector?: string };

/** Besides our Pods. Never Secrets or ConfigMaps. Of each object, only the fields that the apps read. */
const groups: readonly Group[] = [
  { name: 'mirrors', kind: serviceKind, labelSelector: `${mirroredServiceLabel}=true` },
  { name: 'global-services', kind: serviceKind, labelSelector: `${globalServiceLabel}=true` },
  { name: 'slices', kind: endpointSliceKind, labelSelector: `${sliceManagedByLabel}=${sliceManager}` },
  { name: 'companions', kind: networkPolicyKind, labelSelector: companionLabel },
  { name: 'imports', kind: serviceImportKind },
  { name: 'exports', kind: serviceExportKind },
  { name: 'nodes', kind: nodeKind },
  ...labelDomains.map((domain, i) => ({
    name: `sets-${i}`,
    kind: globalNetworkSetKind('crd.projectcalico.org/v1'),
    labelSelector: nameLabel(domain),
  })),
];

const LOG_LINES = 5_000;
/** Twice as much is read, and redacted. */
export const LOG_BYTES = 1024 * 1024;
const LOG_TIMEOUT_MS = 30_000;
const STATUS_TIMEOUT_MS = 10_000;

/** What to ask a Pod for, and what to say if it isn't given. */
type Asked = { readonly what: string; readonly timeoutMs: number; readonly contentOf: (body: string) => string };

/** Reads the versions, objects, statuses and logs of one cluster, without credentials. @param folder of its files */
export async function* gatherCluster(context: Context, folder: string, run: Run): AsyncGenerator<Gathered> {
  const secrets = secretsOf(context);
  const clean = (text: string): string => redact(secrets.strip(text));
  // A refusal may repeat the request.
  for await (const each of filesOf(context, { folder, clean }, run))
    yield 'failure' in each ? { ...each, failure: clean(each.failure) } : each;
}

async function* filesOf(
  context: Context,
  { folder, clean }: { readonly folder: string; readonly clean: (text: string) => string },
  run: Run,
): AsyncGenerator<Gathered> {
  const json = (value: unknown): string => jsonPage(value as object, clean);
  const version = { path: `${folder}/version.json` };
  const read = await request(context, '/version', run);
  if (!read.known) yield { ...version, failure: read.why };
  else if (read.value === undefined) yield { ...version, failure: `${context.name}: there is no /version` };
  else yield { ...version, content: json(read.value) };
  const fileOf = (name: string, objects: Read<readonly { readonly metadata: object }[]>): Gathered => {
    const path = `${folder}/${name}.json`;
    return objects.known
      ? { path, content: json({ items: objects.value.map(withoutForeignAnnotations) }) }
      : { path, failure: objects.why };
  };
  const pods = await listOurPods(context, run);
  yield fileOf(
    'pods',
    mapRead(pods, ({ ours }) => ours),
  );
  for (const { name, kind, ...selection } of groups)
    yield fileOf(name, await listObjects(context, kind, selection, run));
  if (!pods.known) return;
  const { ours, skipped } = pods.value;
  if (skipped !== undefined) {
    const warning = `${context.name}: ${skipped}`;
    yield { path: `${folder}/skipped-pods.txt`, content: clean(`${printable(warning)}\n`), warning };
  }
  for (const [i, pod] of ours.entries()) {
    const { namespace, name, labels } = pod.metadata;
    const own = `/api/v1/namespaces/${namespace}/pods/${name}`;
    const path = `${folder}/${i}-${fileName(name)}`;
    const ask = async (url: string, { what, timeoutMs, contentOf }: Asked) => {
      try {
        return { content: contentOf(await get(context, `${own}${url}`, { ...run, timeoutMs })) };
      } catch (error) {
        run.signal.throwIfAborted();
        const { status = 0, message } = error as RequestError;
        // The API server passes on what the Pod or its node answers, if anything.
        if ([401, 403].includes(status)) return { failure: failureOf(context, error as RequestError) };
        return { failure: `${context.name}: ${namespace}/${name} doesn't report its ${what}: ${message}` };
      }
    };
    const port = httpPort(pod.spec);
    if (port !== undefined) {
      const asked = {
        what: 'status',
        timeoutMs: STATUS_TIMEOUT_MS,
        contentOf: (body: string) => json(JSON.parse(body)),
      };
      yield { path: `${path}.status.json`, ...(await ask(`:${port}/proxy/status`, asked)) };
    }
    const query = `container=${encodeURIComponent(labels['app'] ?? '')}&tailLines=${LOG_LINES}&limitBytes=${LOG_BYTES}`;
    const asked = { what: 'log', timeoutMs: LOG_TIMEOUT_MS, contentOf: (body: string) => logPage(body, clean) };
    yield { path: `${path}.log`, ...(await ask(`/log?${query}`, asked)) };
  }
}

/** Who writes into a log may be a remote, or the API server. A credential may begin before the cut and end after it. */
const logPage = (log: string, clean: (text: string) => string): string =>
  pageOf(cut(clean(cut(log, 2 * LOG_BYTES)).trimEnd(), LOG_BYTES).split(/\r?\n/));

/** A tar header has room for 100 bytes. */
export const fileName = (text: string): string => text.replaceAll(/[^\w.-]/g, '_').slice(0, 30);

/** Keys of our annotations. Those of others may contain anything, such as the whole object with its environment. */
const OURS = /semaphore\.uw|^mirror-svc-|^global-svc-|^multicluster\.kubernetes\.io\//;

function withoutForeignAnnotations<T extends { readonly metadata: object }>(object: T): T {
  const { annotations = {} } = object.metadata as { readonly annotations?: Readonly<Record<string, string>> };
  const kept = Object.fromEntries(Object.entries(annotations).filter(([key]) => OURS.test(key)));
  return { ...object, metadata: { ...object.metadata, annotations: kept } };
}
