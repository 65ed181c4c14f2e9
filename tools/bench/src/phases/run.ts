import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { clusterName, type Clusters, enrol, type Rights } from '../load/clusters.ts';
import { type Program, startProgram } from '../measure/program.ts';
import type { Column, Figures, Round } from '../report/report.ts';

/** Our program's launcher, and what is called with the progress. */
export type Setting = { readonly launcher: string; readonly say: (what: string) => void };

/** The clusters and files of a program under test. */
export type Place = {
  /** Kubeconfig of the cluster where it writes. */
  readonly local: string;
  /** Kubeconfig of the first cluster that it watches, and the name of that. */
  readonly remote: string;
  readonly cluster: string;
  /** All clusters that it watches. */
  readonly remotes: readonly { readonly name: string; readonly kubeConfigPath: string }[];
  /** A folder for the command's own files. */
  readonly dir: string;
};

/** Makes texts by name: flags without hyphens, or values of `{name}` in a command. */
type Texts = (place: Place) => Promise<Readonly<Record<string, string>>>;

/** A program on its clusters, while it is measured. */
export type Trial = {
  /** Its ServiceAccount on all clusters, which identifies its requests. */
  readonly account: string;
  /** Starts the program, which must not run. */
  readonly start: () => Program;
  /** Called at the start of each phase. */
  readonly say: (phase: string) => void;
};

/** A program of the bench: a column of its table. */
export type Contender = {
  readonly name: string;
  /** Its file, and its arguments. */
  readonly command: (place: Place) => Promise<readonly string[]>;
};

/** A program, and its phases, the first of which starts it. */
export type Entrant = Contender & { readonly phases: (trial: Trial) => AsyncIterable<Figures> };

type RunOptions = {
  readonly rights: Rights;
  /** Called after the program ended. */
  readonly cleanUp: () => Promise<void>;
  /** Called at the start of each phase. */
  readonly say: (what: string) => void;
};

/** Our own program, started by its launcher with the app's flags. */
export function ours(launcher: string, encoding: 'auto' | 'json', flags: Texts): Contender {
  return {
    name: encoding === 'json' ? 'ours, JSON' : 'ours',
    command: async (place) => {
      const all = { 'listen-address': '127.0.0.1:0', encoding, ...(await flags(place)) };
      return [launcher, ...Object.entries(all).map(([flag, value]) => `-${flag}=${value}`)];
    },
  };
}

/** Any other program: a simple shell command, where `{name}` is replaced by a text of its place, or one of `more`. */
export function peer(template: string, more: Texts = () => Promise.resolve({})): Contender {
  const program = template.split(/\s+/).find((word) => !word.includes('=') && word !== 'env') ?? template;
  return {
    name: basename(program),
    command: async (place) => {
      const { local, remote, cluster } = place;
      const texts: Readonly<Record<string, string>> = { local, remote, cluster, ...(await more(place)) };
      const text = template.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => texts[name] ?? placeholder);
      // Replaces the shell, so that the measured process is the program itself.
      return ['/bin/sh', '-c', `exec ${text}`];
    },
  };
}

/**
 * Runs one program after the other, each alone, in rounds. Every other round has the opposite order, so that a machine
 * that gets slower or faster favours none.
 */
export async function runAll(
  entrants: readonly Entrant[],
  clusters: Clusters,
  { repeat, say, ...options }: RunOptions & { readonly repeat: number },
): Promise<Column[]> {
  const columns = entrants.map((entrant) => ({ entrant, rounds: [] as Round[] }));
  const order = [...columns.entries()];
  for (let round = 1; round <= repeat; round++) {
    for (const [index, { entrant, rounds }] of order) {
      const sayRound = (phase: string) => say(`round ${round} of ${repeat}, ${entrant.name}: ${phase}`);
      rounds.push(await runOnce(entrant, clusters, `program-${index}-${round}`, { ...options, say: sayRound }));
    }
    order.reverse();
  }
  return columns.map(({ entrant: { name }, rounds }) => ({ name, rounds }));
}

/**
 * Runs one program from its start to its end, or to an error.
 *
 * @param account name of its ServiceAccount, which no other run had
 */
export async function runOnce(
  { command, phases }: Entrant,
  clusters: Clusters,
  account: string,
  { rights, cleanUp, say }: RunOptions,
): Promise<Round> {
  const accounts = await enrol(account, clusters, rights);
  const { dir } = clusters.local.api;
  const remotes = accounts.remotes.map(({ kubeconfig }, index) => {
    return { name: clusterName(index), kubeConfigPath: kubeconfig };
  });
  const { name: cluster, kubeConfigPath: remote } = remotes[0]!;
  const line = await command({ local: accounts.local.kubeconfig, remote, cluster, remotes, dir });
  const programs: Program[] = [];
  const start = () => {
    const program = startProgram(line, join(dir, `${account}-${programs.length}.log`));
    programs.push(program);
    return program;
  };
  let figures: Figures = {};
  try {
    for await (const more of phases({ account, start, say })) figures = { ...figures, ...more };
    return { figures };
  } catch (error) {
    const ended = programs.find(({ signal }) => signal.aborted)?.signal.reason as Error | undefined;
    const { name, message, cause } = error as Error;
    // Of a timeout, which ends what waits.
    const reason = name === 'AbortError' ? (cause as Error).message : message;
    const failure = ended?.message ?? reason;
    say(`failed: ${failure}`);
    return { figures, failure };
  } finally {
    for (const program of programs) await program.stop();
    await cleanUp();
  }
}

/** Facts of each report. */
export function machineFacts(repeat: number, server: string): string[] {
  return [
    `each figure is the median of ${repeat} round${repeat === 1 ? '' : 's'}; a ratio is ours to the peer's, and met up to 1`,
    `${availableParallelism()} cores for everything, Node.js ${process.version}, ${server}`,
  ];
}
