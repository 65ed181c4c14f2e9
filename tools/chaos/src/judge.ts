import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type AuditedWrite, hasSucceeded, type Program, tenuresOf, writesOf } from '@kube-semaphore/testkit';
import type { Stage } from './perform.ts';
import { names, type State, type Subject, type View } from './subject.ts';
import { read, type World } from './world.ts';

/** For so long, no object of ours changes before it counts as quiet: longer than any pause before a retry. */
const STILL_MS = 11_000;

/** The pause between two looks. */
const PROBE_MS = 200;

/** A person who waits is told so often what for. */
const SAY_MS = 20_000;

/** What a replica uses. */
export type Usage = { readonly residentMb: number; readonly files: number; readonly timers: number };

/** More than this is a leak: usual are 100 MB, 40 files and 20 timers. */
const MOST: Usage = { residentMb: 400, files: 200, timers: 100 };

export type Expectations = {
  /** The versions of foreign objects from the beginning. */
  readonly foreign: readonly string[];
  readonly untimelyWrites: () => Promise<readonly string[]>;
  readonly timeoutMs: number;
  readonly say: (what: string) => void;
};

/** Waits until it is quiet, and says what isn't as it must be. No duration is judged: a busy machine is quiet later. */
export async function judge(
  stage: Stage,
  { foreign, untimelyWrites, timeoutMs, say }: Expectations,
): Promise<readonly string[]> {
  const { world, remotes, programs } = stage;
  const { subject, site } = world;
  const found: string[] = [];
  /** Waits until there is nothing to say, or says it. */
  const settles = async (what: string, probe: () => Promise<readonly string[]>): Promise<boolean> => {
    let last: readonly string[] = [];
    const endMs = performance.now() + timeoutMs;
    for (let sayMs = performance.now() + SAY_MS; ; await delay(PROBE_MS)) {
      // A replica that hung may end in the middle of an answer. If none ever comes, that is what is found.
      last = await probe().catch((error: unknown) => [String(error)]);
      if (last.length === 0 || performance.now() > endMs || stage.deaths.length > 0) break;
      if (performance.now() < sayMs) continue;
      say(`still waits: ${what}: ${last.length} not so, such as ${last[0]}`);
      sayMs += SAY_MS;
    }
    found.push(...last.map((each) => `${what}: ${each}`));
    return last.length === 0;
  };
  const state = await read(world.clusters, names, subject.sources);
  const wanted = subject.wanted(state, remotes, stage.settings);
  const difference = async () => differences(await site.observed(remotes), wanted);
  const isQuiet =
    (await settles('the config file is in force', () => staleFiles(stage))) &&
    (await settles('local state is as desired', difference)) &&
    (await settles('writes end', changesIn(world))) &&
    (await settles('metrics are true', () => untrueMetrics(stage, wanted)));
  if (isQuiet) found.push(...(await difference()).map((each) => `no more when it was quiet: ${each}`));
  found.push(...(await site.harm(stage.takeLeft())));
  if (!isDeepStrictEqual(await site.foreign(), foreign)) found.push('what is foreign was touched');
  found.push(...(await secretsIn(stage, state)));
  if (world.accounts.length > 1) found.push(...(await untimelyWrites()));
  found.push(...stage.takeErrors(), ...stage.deaths);
  if (stage.deaths.length > 0) return found;
  for (const [nth, program] of programs.entries()) {
    const { status, body } = await program.get('/healthz');
    if (status !== 200) found.push(`replica ${nth}: /healthz is ${status}: ${body}`);
    const usage = await usageOf(program);
    const { residentMb, files, timers } = usage;
    if (!isDeepStrictEqual(mostOf([MOST, usage]), MOST))
      found.push(`replica ${nth} has ${residentMb} MB, ${files} files and ${timers} timers`);
    const errors = program.log().filter(({ level }) => level === 'error' || level === 'fatal');
    found.push(...errors.map((line) => `replica ${nth} logged ${JSON.stringify(line)}`));
  }
  return found;
}

/** The replicas that don't have the remotes of the file. */
async function staleFiles({ programs, remotes }: Stage): Promise<readonly string[]> {
  const statuses = await Promise.all(programs.map((program) => program.status()));
  return statuses
    .map((status) => (status as { readonly remotes: readonly { readonly name: string }[] }).remotes)
    .map((each) => each.map(({ name }) => name))
    .filter((each) => !isDeepStrictEqual(each, [...remotes]))
    .map((each) => `a replica has ${each.join(', ')} instead of ${remotes.join(', ')}`);
}

/** One text for each object that isn't as wanted. */
function differences(observed: View, wanted: View): readonly string[] {
  const all = new Set([...Object.keys(observed), ...Object.keys(wanted)]);
  return [...all]
    .filter((name) => !isDeepStrictEqual(observed[name], wanted[name]))
    .map((name) => `${name} is ${JSON.stringify(observed[name])}, and must be ${JSON.stringify(wanted[name])}`);
}

/** What was changed or created in a while; what it says first is all that there is. */
function changesIn({ site }: World): () => Promise<readonly string[]> {
  let before: readonly string[] = [];
  return async () => {
    await delay(before.length === 0 ? 0 : STILL_MS);
    const now = await site.versions();
    const changed = now.filter((each) => !before.includes(each));
    before = now;
    return changed;
  };
}

/** Gauges that are 0 when all is well, whatever their labels. */
const ZEROS = /^\w+_(companions_behind|failing_objects|held_deletions|queue_depth|remote_over_budget)(\{.*\})? [^0]/;

/** What the metrics of the replicas say that isn't so. */
async function untrueMetrics({ world, programs, remotes }: Stage, wanted: View): Promise<readonly string[]> {
  const { subject } = world;
  const { prefix, elects } = subject;
  const leads = await Promise.all(programs.map(async (program) => (elects ? program.metric(`${prefix}_leader`) : 1)));
  if (leads.filter((each) => each === 1).length !== 1) return [`leader is ${leads.join(' and ')}`];
  const all = programs.map(async (program, nth) => {
    const expected: ReturnType<Subject['metrics']> = [
      ['config_stale', {}, 0],
      ...remotes.map((remote) => ['remote_up', { remote }, 1] as const),
      ...(leads[nth] === 1 ? subject.metrics(wanted, remotes) : []),
    ];
    const values = await Promise.all(expected.map(([name, labels]) => program.metric(`${prefix}_${name}`, labels)));
    const untrue = expected.flatMap(([name, labels, value], which) =>
      values[which] === value ? [] : [`${name} ${JSON.stringify(labels)} is ${values[which]} instead of ${value}`],
    );
    return [...untrue, ...(await program.get('/metrics')).body.split('\n').filter((line) => ZEROS.test(line))];
  });
  return (await Promise.all(all)).flat();
}

/** Where a secret is that must not be there. Exported for its test. */
export async function secretsIn(
  stage: Pick<Stage, 'programs' | 'world' | 'takeLogs'>,
  state: State,
): Promise<readonly string[]> {
  const { programs, world } = stage;
  const secrets = [...world.subject.secrets, ...((await world.site.secrets?.()) ?? [])];
  const texts = {
    'an object': JSON.stringify(state),
    'the log of a replica that ended': stage.takeLogs().join(''),
    ...Object.fromEntries(programs.map(({ stderr }, nth) => [`the log of replica ${nth}`, stderr()])),
  };
  return Object.entries(texts)
    .filter(([, text]) => secrets.some((secret) => text.includes(secret)))
    .map(([where]) => `a secret is in ${where}`);
}

/** Writes since the last call that took effect while the other replica held the Lease. */
export function untimelyWritesIn({
  clusters,
  accounts,
  subject: { resources },
}: World): () => Promise<readonly string[]> {
  const follow = clusters.c1.followAuditLog();
  const leaseWrites: AuditedWrite[] = [];
  return async () => {
    const events = await follow();
    leaseWrites.push(...writesOf(events, { accounts, resources: ['leases'] }));
    const tenures = tenuresOf(leaseWrites);
    const holderAt = (ms: number) => tenures.findLast(({ fromMs }) => fromMs <= ms)?.account;
    return writesOf(events, { accounts, resources })
      .filter(hasSucceeded)
      .filter(({ account, receivedMs, endedMs }) => account !== holderAt(receivedMs) || account !== holderAt(endedMs))
      .map(
        ({ account, verb, uri, receivedMs }) =>
          `${account} wrote without the Lease: ${verb} ${uri} at ${new Date(receivedMs).toISOString()}`,
      );
  };
}

/** The most that any of them uses, of each. */
export const mostOf = (usages: readonly Usage[]): Usage => ({
  residentMb: Math.max(...usages.map(({ residentMb }) => residentMb)),
  files: Math.max(...usages.map(({ files }) => files)),
  timers: Math.max(...usages.map(({ timers }) => timers)),
});

/** What a program uses: of timers, those that keep it alive. */
export async function usageOf({ pid, metric }: Program): Promise<Usage> {
  const [status, files, timers] = await Promise.all([
    readFile(`/proc/${pid}/status`, 'utf8'),
    readdir(`/proc/${pid}/fd`),
    metric('nodejs_active_resources', { type: 'Timeout' }),
  ]);
  if (timers === undefined) throw new Error('the metrics have no nodejs_active_resources of timers');
  const [, kb] = /VmRSS:\s+(\d+)/.exec(status) ?? [];
  return { residentMb: Math.round(Number(kb) / 1_024), files: files.length, timers };
}
