import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleForThisProcess } from '@kube-semaphore/images-tool/bundle';
import { CommanderError } from 'commander';
import { policy } from './subjects/policy.ts';
import { serviceMirror } from './subjects/service-mirror.ts';
import { wireguard } from './subjects/wireguard.ts';
import { rotating, witnessing } from './subjects/wireguard-variants.ts';
import { chaos, type Outcome } from './chaos.ts';
import { againCommand, type App, apps, commandLine, type Options } from './options.ts';
import { type Round, script } from './script.ts';
import { shrink } from './shrink.ts';
import { names } from './subject.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const subjects = {
  policy,
  'service-mirror': serviceMirror,
  wireguard,
  'wireguard-rotation': rotating,
  'wireguard-blocks': witnessing,
} as const;

// The clusters and the programs end with this process, also if it is killed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const program = commandLine(async (options) => {
  const seed = options.seed ?? Math.floor(Math.random() * 2 ** 32);
  for (const app of options.app === 'all' ? apps : [options.app]) await run(app, seed, options);
});
try {
  await program.parseAsync();
} catch (error) {
  // commander has written its message.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}

async function run(app: App, seed: number, options: Options): Promise<void> {
  const { minutes, rounds, replicas, wait } = options;
  const events = options.script === undefined ? `--seed ${seed}` : `--script ${options.script}`;
  const subject = subjects[app];
  const launcher = await bundleForThisProcess(subject.app, { root });
  const say = (what: string) => console.error(`- ${new Date().toISOString().slice(11, 19)} ${app}: ${what}`);
  const perform = (script: Iterable<Round>, goesOn: (done: number) => boolean) =>
    chaos(subject, script, { launcher, replicas, timeoutMs: wait * 1_000, goesOn, say });
  say(events);
  const endMs = performance.now() + minutes * 60_000;
  const file = options.script === undefined ? undefined : await readScript(options.script);
  const lasts = () => file !== undefined || performance.now() < endMs;
  const goesOn = (done: number) => (rounds === undefined ? lasts() : done < rounds);
  const all = (): Iterable<Round> => file ?? script(subject, seed);
  const outcome = await perform(all(), goesOn);
  console.log(render(`${app} ${events}`, outcome));
  if (outcome.violations.length === 0) return;
  process.exitCode = 1;
  for (const log of outcome.logs) console.error(log.slice(-20_000));
  const again = (what: { readonly events: string; readonly rounds?: number }) =>
    againCommand({ app, replicas, wait, ...what }, names.length);
  say(`again: ${again({ events, rounds: outcome.rounds })}`);
  if (options.shrink === 0 || outcome.rounds === 0) return;
  const failed: Round[] = [];
  for (const round of all()) if (failed.push(round) === outcome.rounds) break;
  const fails = async (smaller: readonly Round[]) => (await perform(smaller, () => true)).violations.length > 0;
  const smallest = await shrink(failed, fails, options.shrink);
  await writeFile(`chaos-${app}.json`, JSON.stringify(smallest, undefined, 2));
  say(`${smallest.flat().length} events are left: ${again({ events: `--script chaos-${app}.json` })}`);
}

async function readScript(file: string): Promise<readonly Round[]> {
  return JSON.parse(await readFile(file, 'utf8')) as readonly Round[];
}

/** A record, as in docs/reliability.md. */
function render(what: string, { rounds, minutes, counts, most, violations }: Outcome): string {
  const events = Object.entries(counts).map(([kind, count]) => `  ${String(count).padStart(5)} ${kind}`);
  return [
    `${what}: ${rounds} rounds in ${minutes.toFixed(1)} minutes, ${violations.length} violations`,
    ...events,
    `  at most ${most.residentMb} MB, ${most.files} open files and ${most.timers} timers per replica`,
    ...violations.map((each) => `  VIOLATION ${each}`),
  ].join('\n');
}
