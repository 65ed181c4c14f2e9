import { execFile } from 'node:child_process';
import { isDeepStrictEqual, promisify } from 'node:util';
import { parseYaml } from '@kube-semaphore/text';
import type { ObjectAt } from '../../clusters/object-api.ts';
import { UsageError } from '../../usage-error.ts';
import { byHand } from '../../dns/by-hand.ts';
import { editsWith } from '../../dns/edits.ts';
import { type Applied, configMapAt, type DnsPlan, type KubeObject, type LinkApi, readObject } from './api.ts';

/** A cluster with its overlay. */
export type Applicable = {
  readonly name: string;
  readonly context: string;
  readonly api: LinkApi;
  readonly objects: readonly KubeObject[];
  /** Helm applies them; tokens and names are not Helm's. */
  readonly helm: boolean;
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

/** Gets what was done to an object, or would be. */
type Report = (context: string, object: ObjectAt, applied: Applied) => void;

/** The apps that read remotes, each with its account there. */
export const accounts = [
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
    report(cluster.context, object, await cluster.api.apply(object));
}

/**
 * Applies the overlays, in an order that can stop anywhere and start again: accounts everywhere, then tokens, then the
 * apps, which need both, and last the DNS names, which need the apps. It applies nothing if it can't add those.
 *
 * @param report gets each change
 * @returns what is left to do by hand so that names resolve
 */
export async function applyLink(
  clusters: readonly Applicable[],
  { report }: { readonly report: Report },
): Promise<readonly string[]> {
  const named = clusters.filter(({ coredns }) => coredns);
  for (const cluster of named) await planNames(cluster);
  for (const cluster of clusters)
    await applyObjects(
      cluster,
      ownObjects(cluster).filter((each) => !isWorkload(each)),
      report,
    );
  await handOverTokens(clusters, { renew: false, report });
  for (const cluster of clusters) await applyObjects(cluster, ownObjects(cluster).filter(isWorkload), report);
  // Planned again: the apps took a while.
  const left: string[] = [];
  for (const cluster of named) {
    const plan = await planNames(cluster);
    await cluster.api.writeDns(plan, (object) => report(cluster.context, object, 'changed'));
    left.push(...leftByHand(cluster, plan));
  }
  return left;
}

/** Those that a link applies itself. */
const ownObjects = ({ helm, objects }: Applicable): readonly KubeObject[] => (helm ? [] : objects);

const planNames = (cluster: Applicable): Promise<DnsPlan> =>
  cluster.api.planDns((config) => editsWith(config, cluster));

/**
 * What `applyLink` would do to a cluster now. It stores nothing.
 *
 * @param report gets each object in turn: an error leaves the rest unknown
 * @returns what is left to do by hand so that names resolve
 */
export async function planLink(
  cluster: Applicable,
  { clusters, report }: { readonly clusters: readonly Applicable[]; readonly report: Report },
): Promise<readonly string[]> {
  const { context, api } = cluster;
  for (const object of ownObjects(cluster)) report(context, object, await api.plan(object));
  for (const token of tokensOf(clusters).filter(({ reader }) => reader === cluster))
    report(context, token.secret, await plannedToken(token));
  if (!cluster.coredns) return [];
  const plan = await planNames(cluster);
  for (const configMap of new Set(plan.edits.map((each) => each.configMap)))
    report(context, configMapAt(configMap), 'changed');
  return leftByHand(cluster, plan);
}

function leftByHand(cluster: Applicable, { config }: DnsPlan): readonly string[] {
  const left = byHand(config, cluster);
  return left === undefined ? [] : [`${cluster.context}: ${left}`];
}

/** A Secret for the token of an account in another cluster. */
type Token = {
  readonly reader: Applicable;
  readonly read: Applicable;
  readonly account: string;
  readonly secret: ObjectAt & { readonly metadata: { readonly namespace: string } };
};

/** Those that the apps of clusters need. */
const tokensOf = (clusters: readonly Applicable[]): readonly Token[] =>
  clusters.flatMap((reader) =>
    clusters
      .filter((read) => read !== reader)
      .flatMap((read) =>
        accounts.flatMap(({ app, account }) => {
          const workload = reader.objects.find((object) => isWorkload(object) && object.metadata.name === app);
          if (workload === undefined) return [];
          const { namespace = 'default' } = workload.metadata;
          const metadata = { name: `${app}-${read.name}`, namespace };
          return [{ reader, read, account, secret: { apiVersion: 'v1', kind: 'Secret', metadata } }];
        }),
      ),
  );

async function plannedToken({ reader, read, account, secret }: Token): Promise<Applied> {
  const { namespace, name } = secret.metadata;
  const present = await reader.api.credentialsIn(namespace, name);
  if (present === undefined) return 'created';
  const isGood =
    read.lifetimeS === undefined
      ? isDeepStrictEqual(present, await read.api.credentialsIn('kube-system', account))
      : isFresh(await reader.api.expiryOf(namespace, name), read.lifetimeS);
  return isGood ? 'unchanged' : 'changed';
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
  for (const { reader, read, account, secret } of tokensOf(clusters)) {
    const { namespace, name } = secret.metadata;
    const { lifetimeS } = read;
    const isGood = !renew && lifetimeS !== undefined && isFresh(await reader.api.expiryOf(namespace, name), lifetimeS);
    if (isGood) {
      report(reader.context, secret, 'unchanged');
      continue;
    }
    const data =
      lifetimeS === undefined ? await read.api.credentialsOf(account) : await read.api.requestToken(account, lifetimeS);
    await applyObjects(reader, [{ ...secret, data }], report);
  }
}

/** Whether a token has more than half of its time left. @param expiry in seconds since 1970; undefined: it has none */
const isFresh = (expiry: number | undefined, lifetimeS: number): boolean =>
  (expiry ?? 0) - Date.now() / 1_000 > lifetimeS / 2;

/**
 * Sentences on tokens that don't end, of accounts whose tokens should. Apps use them for two more minutes, and clusters that
 * aren't linked now do, too.
 */
export async function endlessTokens(clusters: readonly Applicable[]): Promise<readonly string[]> {
  const names = [...accounts.map(({ account }) => account), 'semaphore-service-mirror-remote-token'];
  const found: string[] = [];
  for (const { context, api } of clusters.filter(({ lifetimeS }) => lifetimeS !== undefined)) {
    const endless: string[] = [];
    for (const name of names) if (await api.hasSecret('kube-system', name)) endless.push(name);
    if (endless.length > 0)
      found.push(
        `${context}: Secrets in kube-system have tokens that do not end: ${endless.join(', ')}: ` +
          'delete them when all clusters have others',
      );
  }
  return found;
}
