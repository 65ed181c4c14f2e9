import { join } from 'node:path';
import { clusterName, type Clusters, enrol, type Rights } from '../load/clusters.ts';
import type { Contender } from '../measure/contender.ts';
import { type Program, startProgram } from '../measure/program.ts';
import type { Column, Result } from './result.ts';

/** A program on its clusters, while it is measured. */
export type Trial = {
  /** The measurements so far. */
  readonly result: Result;
  /** Its ServiceAccount on all clusters, which identifies its requests. */
  readonly account: string;
  /** Starts the program, which must not run. */
  readonly start: () => Program;
  /** Called at the start of each phase. */
  readonly say: (phase: string) => void;
};

/** A program, and `measure`, which starts it and records its measurements. */
export type Entrant = { readonly contender: Contender; readonly measure: (trial: Trial) => Promise<void> };

/** The options of all programs. */
export type RunOptions = {
  /** How often each program runs through all phases. */
  readonly repeat: number;
  readonly rights: Rights;
  /** Empties the local cluster after the program ended. */
  readonly cleanUp: () => Promise<void>;
  /** Called at the start of each phase. */
  readonly say: (what: string) => void;
};

/**
 * Runs one program after the other, each alone, in rounds. Every other round has the opposite order, so that a machine
 * that gets slower or faster favours none.
 */
export async function runAll(entrants: readonly Entrant[], clusters: Clusters, options: RunOptions): Promise<Column[]> {
  const { repeat, say } = options;
  const columns = entrants.map((entrant) => ({ entrant, name: entrant.contender.name, rounds: [] as Result[] }));
  const order = [...columns.entries()];
  for (let round = 1; round <= repeat; round++) {
    for (const [index, { entrant, name, rounds }] of order) {
      const sayRound = (phase: string) => say(`round ${round} of ${repeat}, ${name}: ${phase}`);
      rounds.push(await runOnce(entrant, clusters, `program-${index}-${round}`, { ...options, say: sayRound }));
    }
    order.reverse();
  }
  return columns.map(({ name, rounds }) => ({ name, rounds }));
}

/**
 * Runs one program from its start on an empty local cluster to its end, and empties that. An error of the program is in
 * the result.
 *
 * @param account name of its ServiceAccount, which no other run had
 */
export async function runOnce(
  { contender, measure }: Entrant,
  clusters: Clusters,
  account: string,
  { rights, cleanUp, say }: Omit<RunOptions, 'repeat'>,
): Promise<Result> {
  const result: Result = {};
  const files = await enrol(account, clusters, rights);
  const { dir } = clusters.local.api;
  const remotes = files.remotes.map(({ kubeconfig }, index) => ({ name: clusterName(index), kubeconfig }));
  const line = await contender.command({ local: files.local.kubeconfig, remotes, dir });
  const programs: Program[] = [];
  const start = () => {
    const program = startProgram(line, { log: join(dir, `${account}-${programs.length}.log`) });
    programs.push(program);
    return program;
  };
  try {
    await measure({ result, account, start, say });
  } catch (error) {
    const { signal } = programs.find((program) => program.signal.aborted) ?? {};
    const { message } = (signal === undefined ? error : signal.reason) as Error;
    result.failure = message;
  } finally {
    for (const program of programs) await program.stop();
    await cleanUp();
  }
  return result;
}
