import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printable } from '@kube-semaphore/text';
import packageJson from '../../package.json' with { type: 'json' };
import { type ContextChoice, contextsOf, nameContexts } from '../clusters/contexts.ts';
import { tableLines } from '../output/table.ts';
import type { Surroundings, Terminal } from '../output/terminal.ts';
import { UsageError } from '../usage-error.ts';
import { type Applied, LinkApi } from './api.ts';
import { applyLink, endlessTokens, handOverTokens, render } from './apply.ts';
import { type AnswerOptions, answersOf } from './answers.ts';
import { type Choices, CHOICES_FILE, choicesIn, choicesOf, choicesText, flagsOf, writtenIn } from './choices.ts';
import { knownRemotes, rangeFields } from './config-files.ts';
import { conflictsOf } from './conflicts.ts';
import { type Change, changedLines, type Files, readFolder, writeFolder } from './folder.ts';
import { type Cluster, type Findings, findingsOf } from './findings.ts';
import { observe } from './observe.ts';
import type { KnownRemote } from './kustomize.ts';
import { limitsOf, writtenBy } from './limits.ts';
import { overlayOf } from './overlay.ts';
import { type RangeChange, rangeChanges, unconfirmed } from './range-changes.ts';

export type LinkOptions = ContextChoice &
  AnswerOptions &
  Choices & {
    readonly output: string;
    readonly sharedServiceCidrs?: boolean;
    readonly apply?: boolean;
    readonly renew?: boolean;
  };

/** The least that TokenRequest accepts. */
const MIN_LIFETIME_MS = 600_000;

/** Writes an overlay for each cluster, and applies it if asked to. @returns the exit code */
export async function runLink(options: LinkOptions, { name, terminal, signal }: Surroundings): Promise<number> {
  const contexts = await contextsOf(options);
  const [first, second] = contexts;
  if (first === undefined || second === undefined) throw new UsageError('a link needs two clusters: repeat --context');
  const { deploy, registry, wireguard, userspace, networkPolicies, mcs, boundTokens, coredns } = options;
  const given: Choices = { deploy, registry, wireguard, userspace, networkPolicies, mcs, boundTokens, coredns };
  const { apply = false, renew = false } = options;
  if (typeof boundTokens === 'number' && boundTokens < MIN_LIFETIME_MS)
    throw new UsageError('--bound-tokens must be at least 10m: API servers give no shorter tokens');
  const answers = answersOf(
    options,
    contexts.map((context) => context.name),
  );
  const names = contexts.map((context, i) => ({ name: answers[i]!.name ?? context.name }));
  const { existing, known } = await readFolders(names, options.output);
  const chosen = choicesOf(
    names.map((each, i) => ({
      files: existing.get(each.name)!,
      folder: join(options.output, each.name),
      answers: answers[i]!,
    })),
    given,
  );
  if (renew && !chosen.some((choices) => typeof choices.boundTokens === 'number'))
    throw new UsageError('--renew needs --bound-tokens: other tokens do not end');
  const deploys = chosen.map(deployOf);

  nameContexts(contexts, terminal);
  const observed = await terminal.whileWaiting(
    `reading ${contexts.map((context) => context.name).join(', ')}`,
    Promise.allSettled(contexts.map((context) => observe(context, { signal }))),
  );
  signal.throwIfAborted();
  const failures = observed.flatMap((each) => (each.status === 'rejected' ? [(each.reason as Error).message] : []));
  const found = observed.flatMap((each, i) =>
    each.status === 'fulfilled'
      ? [withFlags(findingsOf(each.value, answers[i]!, { ...chosen[i]!, apply }), chosen[i]!, given)]
      : [],
  );
  terminal.print(findingsText(found));
  const clusters = found.flatMap(({ cluster }) => cluster ?? []);
  const conflicts = conflictsOf(clusters, { known, sharedServiceCidrs: options.sharedServiceCidrs === true });
  const problems = [...failures, ...found.flatMap((each) => each.problems), ...conflicts];
  const refuse = (reasons: readonly string[]): number => {
    for (const reason of reasons) terminal.complain(`${name}: ${printable(reason)}\n`);
    terminal.complain(`${name}: nothing was written\n`);
    return 1;
  };
  if (problems.length > 0) return refuse(problems);

  const changes = clusters.map((cluster, i) => {
    const choices = chosen[i]!;
    const folder = join(options.output, cluster.name);
    const before = existing.get(cluster.name)!;
    const remotes = clusters.filter((other) => other !== cluster);
    const after = overlayOf(cluster, {
      remotes,
      existing: before,
      deploy: (part) => deploys[i]!(part, folder),
      version: packageJson.version,
      choices,
    });
    after.set(CHOICES_FILE, choicesText(choices, folder, writtenBy(writtenIn(before), limitsOf(cluster, remotes))));
    const ranges = rangeChanges(rangeFields(before), rangeFields(after));
    return { cluster, given: answers[i]!, choices, folder, before, after, changes: ranges };
  });
  if (!renew) {
    terminal.print(rangesText(changes));
    const wider = unconfirmed(changes);
    if (wider.length > 0) return refuse(wider);
  }
  for (const { folder, ...change } of renew ? [] : changes) {
    terminal.print(changeText(folder, change, terminal.paint));
    await writeFolder(folder, change);
  }
  if (!apply && !renew) return 0;

  const applicable = await Promise.all(
    changes.map(async ({ cluster, choices, folder, after }) => ({
      name: cluster.name,
      context: cluster.context,
      api: new LinkApi(
        contexts.find((context) => context.name === cluster.context)!,
        { signal },
      ),
      objects: await render(folder, { signal }),
      remotes: knownRemotes(after).map((remote) => remote.name),
      coredns: choices.coredns ?? true,
      mcs: choices.mcs === true,
      lifetimeS: typeof choices.boundTokens === 'number' ? choices.boundTokens / 1_000 : undefined,
    })),
  );
  const report = (context: string, what: string, applied: Applied): void =>
    terminal.print(`${printable(`${context}: ${what} ${applied}`)}\n`);
  if (renew) await handOverTokens(applicable, { renew, report });
  else await applyLink(applicable, { report });
  for (const sentence of await endlessTokens(applicable)) terminal.print(`${printable(sentence)}\n`);
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
      choicesIn(files);
    } catch {
      throw new UsageError(`${folder} has a JSON file that is not valid: correct it, or set -o to another folder`);
    }
  }
  return { existing, known };
}

/** How the kustomization in a folder names a part of `deploy/`. @throws {UsageError} if it isn't there */
function deployOf({ deploy }: Choices): (part: string, folder: string) => string {
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

/** Says which flags an earlier run gave. */
function withFlags(found: Findings, choices: Choices, given: Choices): Findings {
  const flags = flagsOf(choices, given).join(' ');
  if (flags === '') return found;
  return { ...found, findings: [...found.findings, { what: 'flags', found: flags, source: CHOICES_FILE }] };
}

function findingsText(all: readonly Findings[]): string {
  const rows = all.flatMap(({ context, findings }) =>
    findings.map(({ what, found, source }) => [context, what, found, source].map((text) => ({ text }))),
  );
  return rows.length === 0 ? '' : `${tableLines(['CONTEXT', 'WHAT', 'FOUND', 'SOURCE'], rows).join('\n')}\n\n`;
}

function rangesText(all: readonly { readonly cluster: Cluster; readonly changes: readonly RangeChange[] }[]): string {
  const rows = all.flatMap(({ cluster, changes }) =>
    changes.map(({ file, field, remote = cluster.name, removed, added }) =>
      [cluster.name, file, field, remote, removed.join(', '), added.join(', ')].map((text) => ({ text })),
    ),
  );
  const headings = ['CLUSTER', 'FILE', 'FIELD', 'RANGES OF', 'REMOVED', 'ADDED'];
  return rows.length === 0 ? '' : `${tableLines(headings, rows).join('\n')}\n\n`;
}

export function changeText(folder: string, change: Change, paint: Terminal['paint']): string {
  const lines = changedLines(folder, change).map(({ mark, text }) => {
    const line = printable(mark === ' ' ? text : `${mark} ${text}`, Infinity);
    return mark === ' ' ? line : paint(mark === '+' ? 'green' : 'red', line);
  });
  return lines.length === 0 ? `${folder}: nothing changes\n` : `${lines.join('\n')}\n`;
}
