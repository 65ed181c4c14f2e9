import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printable } from '@kube-semaphore/text';
import packageJson from '../../package.json' with { type: 'json' };
import { type ContextChoice, contextsOf } from '../clusters/contexts.ts';
import { tableLines } from '../output/table.ts';
import type { Surroundings, Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { type Applied, LinkApi } from './api.ts';
import { applyLink, endlessTokens, handOverTokens, render } from './apply.ts';
import { type AnswerOptions, answersOf } from './answers.ts';
import { conflictsOf } from './conflicts.ts';
import { type Change, changedLines, readFolder, writeFolder } from './folder.ts';
import { type Cluster, type Findings, findingsOf } from './findings.ts';
import { observe } from './observe.ts';
import type { KnownRemote } from './kustomize.ts';
import { type Files, knownRemotes, overlayOf } from './overlay.ts';

export type LinkOptions = ContextChoice &
  AnswerOptions & {
    readonly output: string;
    readonly deploy?: string;
    readonly registry?: string;
    readonly wireguard: boolean;
    readonly userspace?: boolean;
    readonly networkPolicies?: boolean;
    readonly sharedServiceCidrs?: boolean;
    readonly apply?: boolean;
    readonly coredns: boolean;
    /** How long tokens live, in milliseconds. */
    readonly boundTokens?: number;
    readonly renew?: boolean;
  };

/** The least that TokenRequest accepts. */
const MIN_LIFETIME_MS = 600_000;

/** Writes an overlay for each cluster, and applies it if asked to. @returns the exit code */
export async function runLink(options: LinkOptions, { name, terminal, signal }: Surroundings): Promise<number> {
  const contexts = contextsOf(options);
  const [first, second] = contexts;
  if (first === undefined || second === undefined) throw new UsageError('a link needs two clusters: repeat --context');
  const { boundTokens, renew = false } = options;
  if (boundTokens !== undefined && boundTokens < MIN_LIFETIME_MS)
    throw new UsageError('--bound-tokens must be at least 10m: API servers give no shorter tokens');
  if (renew && boundTokens === undefined) throw new UsageError('--renew needs --bound-tokens: other tokens do not end');
  const answers = answersOf(
    options,
    contexts.map((context) => context.name),
  );
  const deploy = deployOf(options);

  const observed = await terminal.whileWaiting(
    `reading ${contexts.map((context) => context.name).join(', ')}`,
    Promise.allSettled(contexts.map((context) => observe(context, { signal }))),
  );
  signal.throwIfAborted();
  const failures = observed.flatMap((each) => (each.status === 'rejected' ? [(each.reason as Error).message] : []));
  const found = observed.flatMap((each, i) =>
    each.status === 'fulfilled' ? [findingsOf(each.value, answers[i]!, { wireguard: options.wireguard })] : [],
  );
  terminal.print(findingsText(found));
  const clusters = found.flatMap(({ cluster }) => cluster ?? []);
  const { existing, known } = await readFolders(clusters, options.output);
  const conflicts = conflictsOf(clusters, { known, sharedServiceCidrs: options.sharedServiceCidrs === true });
  const problems = [...failures, ...found.flatMap((each) => each.problems), ...conflicts];
  if (problems.length > 0) {
    for (const problem of problems) terminal.complain(`${name}: ${printable(problem)}\n`);
    terminal.complain(`${name}: nothing was written\n`);
    return 1;
  }

  const changes = clusters.map((cluster) => {
    const folder = join(options.output, cluster.name);
    const before = existing.get(cluster.name)!;
    const after = overlayOf(cluster, {
      remotes: clusters.filter((other) => other !== cluster),
      existing: before,
      deploy: (part) => deploy(part, folder),
      registry: options.registry,
      version: packageJson.version,
      wireguard: options.wireguard,
      userspace: options.userspace === true,
      networkPolicies: options.networkPolicies === true,
      boundTokens: boundTokens !== undefined,
    });
    return { cluster, folder, before, after };
  });
  for (const { folder, ...change } of renew ? [] : changes) {
    terminal.print(changeText(folder, change, terminal.paint));
    await writeFolder(folder, change);
  }
  if (options.apply !== true && !renew) return 0;

  const applicable = await Promise.all(
    changes.map(async ({ cluster, folder, after }) => ({
      name: cluster.name,
      context: cluster.context,
      api: new LinkApi(
        contexts.find((context) => context.name === cluster.context)!,
        { signal },
      ),
      objects: await render(folder, { signal }),
      remotes: knownRemotes(after).map((remote) => remote.name),
    })),
  );
  const report = (context: string, what: string, applied: Applied): void =>
    terminal.print(`${printable(`${context}: ${what} ${applied}`)}\n`);
  const tokens = { lifetimeS: boundTokens === undefined ? undefined : boundTokens / 1_000, renew };
  if (renew) await handOverTokens(applicable, { tokens, report });
  else await applyLink(applicable, { coredns: options.coredns, tokens, report });
  const endless = boundTokens === undefined ? [] : await endlessTokens(applicable);
  for (const sentence of endless) terminal.print(`${printable(sentence)}\n`);
  return 0;
}

/** What the folders of clusters have. @throws {UsageError} if a file is not valid */
export async function readFolders(clusters: readonly Pick<Cluster, 'name'>[], output: string) {
  const existing = new Map<string, Files>();
  const known = new Map<string, readonly KnownRemote[]>();
  for (const cluster of clusters) {
    const folder = join(output, cluster.name);
    const files = await readFolder(folder);
    existing.set(cluster.name, files);
    try {
      known.set(cluster.name, knownRemotes(files));
    } catch {
      throw new UsageError(`${folder} has a JSON file that is not valid: correct it, or set -o to another folder`);
    }
  }
  return { existing, known };
}

/** How the kustomization in a folder names a part of `deploy/`. @throws {UsageError} if it isn't there */
function deployOf({ deploy }: LinkOptions): (part: string, folder: string) => string {
  if (deploy?.includes('://') === true) {
    const [url = '', ref] = deploy.split('?');
    return (part) => `${url.replace(/\/+$/, '')}/${part}${ref === undefined ? '' : `?${ref}`}`;
  }
  const local = deploy ?? besideSource();
  if (local === undefined || !existsSync(join(local, 'service-mirror/base/kustomization.yaml')))
    throw new UsageError(
      deploy === undefined
        ? 'the manifests are not beside this program: set --deploy to the folder deploy/ or its URL'
        : `--deploy ${deploy} has no manifests: set it to the folder deploy/ of this project, or its URL`,
    );
  // kustomize accepts no absolute path.
  return (part, folder) => relative(resolve(folder), join(resolve(local), part));
}

/** The manifests of this program's source; undefined in the bundle, which is elsewhere. */
const besideSource = (): string | undefined =>
  import.meta.url ? fileURLToPath(new URL('../../../../deploy', import.meta.url)) : undefined;

function findingsText(all: readonly Findings[]): string {
  const rows = all.flatMap(({ context, findings }) =>
    findings.map(({ what, found, source }) => [context, what, found, source].map((text) => ({ text }))),
  );
  return rows.length === 0 ? '' : `${tableLines(['CONTEXT', 'WHAT', 'FOUND', 'SOURCE'], rows).join('\n')}\n\n`;
}

export function changeText(folder: string, change: Change, paint: Terminal['paint']): string {
  const lines = changedLines(folder, change).map(({ mark, text }) => {
    const line = printable(mark === ' ' ? text : `${mark} ${text}`, Infinity);
    return mark === ' ' ? line : paint(mark === '+' ? 'green' : 'red', line);
  });
  return lines.length === 0 ? `${folder}: nothing changes\n` : `${lines.join('\n')}\n`;
}
