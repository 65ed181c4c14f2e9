import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseYaml } from '@kube-semaphore/text';
import { UsageError } from '../usage-error.ts';
import { type Applied, type KubeObject, type LinkApi, nameOf, readObject } from './api.ts';
import { corefileWith } from '../corefile/edit.ts';

/** A cluster with its overlay. */
export type Applicable = {
  readonly name: string;
  readonly context: string;
  readonly api: LinkApi;
  readonly objects: readonly KubeObject[];
  /** All remotes of its overlay. */
  readonly remotes: readonly string[];
  /** CoreDNS gets names. */
  readonly coredns: boolean;
  /** Also those of ServiceImports. */
  readonly mcs: boolean;
  /** Tokens of its accounts end after this time; undefined: those of Secrets, which don't end. */
  readonly lifetimeS: number | undefined;
};

/** The objects of an overlay, as kubectl renders it. @throws {UsageError} without kubectl, or if it fails */
export async function render(
  folder: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<readonly KubeObject[]> {
  try {
    const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder], { signal, maxBuffer: 2 ** 26 });
    return stdout.split(/^---$/m).map((document) => {
      const parsed = parseYaml(document);
      if (!parsed.ok) throw new Error(parsed.problem.message);
      return readObject(parsed.value);
    });
  } catch (error) {
    signal.throwIfAborted();
    const { code, stderr = '', message } = error as NodeJS.ErrnoException & { stderr?: string };
    throw new UsageError(
      code === 'ENOENT'
        ? '--apply needs kubectl in the PATH, which renders the overlays'
        : `kubectl kustomize ${folder} failed: ${stderr.trim() || message}`,
    );
  }
}

type Report = (context: string, what: string, applied: Applied) => void;

/** The apps that read remotes, each with its account there. */
const accounts = [
  { app: 'semaphore-policy', account: 'semaphore-policy-watcher' },
  { app: 'semaphore-service-mirror', account: 'semaphore-service-mirror-remote' },
  { app: 'semaphore-wireguard', account: 'semaphore-wireguard-remote' },
] as const;

const isWorkload = ({ kind }: KubeObject): boolean => kind === 'Deployment' || kind === 'DaemonSet';

/** Applies objects of a cluster: namespaces come before what is in them, and workloads after what they use. */
export async function applyObjects(
  cluster: Pick<Applicable, 'context' | 'api'>,
  objects: readonly KubeObject[],
  report: Report,
): Promise<void> {
  const rank = (object: KubeObject): number => (object.kind === 'Namespace' ? 0 : isWorkload(object) ? 2 : 1);
  for (const object of objects.toSorted((a, b) => rank(a) - rank(b)))
    report(cluster.context, nameOf(object), await cluster.api.apply(object));
}

/**
 * Applies the overlays, in an order that can stop anywhere and start again: accounts everywhere, then tokens, then the
 * apps, which need both, and last the DNS names, which need the apps. It applies nothing if it can't add those.
 *
 * @param report gets each change
 */
export async function applyLink(
  clusters: readonly Applicable[],
  { report }: { readonly report: Report },
): Promise<void> {
  const names = clusters
    .filter(({ coredns }) => coredns)
    .map((cluster) => ({
      cluster,
      plan: () => cluster.api.planCorefile((corefile) => corefileWith(corefile, cluster)),
    }));
  for (const { plan } of names) await plan();
  for (const cluster of clusters)
    await applyObjects(
      cluster,
      cluster.objects.filter((each) => !isWorkload(each)),
      report,
    );
  await handOverTokens(clusters, { renew: false, report });
  for (const cluster of clusters) await applyObjects(cluster, cluster.objects.filter(isWorkload), report);
  // Planned again: the apps took a while.
  for (const { cluster, plan } of names)
    report(cluster.context, 'ConfigMap kube-system/coredns', await cluster.api.writeCorefile(await plan()));
}

/**
 * Gives each app the tokens of its accounts in the other clusters.
 *
 * @param renew also replace those with more than half of their time left
 */
export async function handOverTokens(
  clusters: readonly Applicable[],
  { renew, report }: { readonly renew: boolean; readonly report: Report },
): Promise<void> {
  for (const reader of clusters)
    for (const read of clusters.filter((each) => each !== reader))
      for (const { app, account } of accounts) {
        const workload = reader.objects.find((object) => isWorkload(object) && object.metadata.name === app);
        if (workload === undefined) continue;
        const { namespace = 'default' } = workload.metadata;
        const metadata = { name: `${app}-${read.name}`, namespace };
        const data = await newToken(account, {
          read,
          renew,
          expiry: () => reader.api.expiryOf(namespace, metadata.name),
        });
        if (data === undefined) report(reader.context, `Secret ${namespace}/${metadata.name}`, 'unchanged');
        else await applyObjects(reader, [{ apiVersion: 'v1', kind: 'Secret', metadata, data }], report);
      }
}

/**
 * Sentences on tokens that don't end, of accounts whose tokens should. Apps use them for two more minutes, and clusters that
 * aren't linked now do, too.
 */
export async function endlessTokens(clusters: readonly Applicable[]): Promise<readonly string[]> {
  const names = [...accounts.map(({ account }) => account), 'semaphore-service-mirror-remote-token'];
  const found: string[] = [];
  for (const { context, api } of clusters.filter(({ lifetimeS }) => lifetimeS !== undefined))
    for (const name of names)
      if (await api.hasSecret('kube-system', name))
        found.push(
          `${context}: Secret kube-system/${name} has a token that does not end: delete it when all clusters have others`,
        );
  return found;
}

/** @returns undefined if the present one is good for a while */
async function newToken(
  account: string,
  {
    read: { api, lifetimeS },
    renew,
    expiry,
  }: { read: Applicable; renew: boolean; expiry: () => Promise<number | undefined> },
) {
  if (lifetimeS === undefined) return api.credentialsOf(account);
  const leftS = renew ? 0 : ((await expiry()) ?? 0) - Date.now() / 1_000;
  return leftS > lifetimeS / 2 ? undefined : api.requestToken(account, lifetimeS);
}
