import { join } from 'node:path';
import { clusterName, type Clusters, enrol, type Rights } from '../load/clusters.ts';
import type { Contender } from '../measure/contender.ts';
import { type Program, startProgram } from '../measure/program.ts';
import type { Result } from './result.ts';

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
  readonly rights: Rights;
  /** Empties the local cluster after the program ended. */
  readonly cleanUp: () => Promise<void>;
  /** Called at the start of each phase of each program. */
  readonly say: (what: string) => void;
};

/** Runs one program after the other, each alone. */
export async function runAll(entrants: readonly Entrant[], clusters: Clusters, options: RunOptions): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, entrant] of entrants.entries())
    results.push(await run(entrant, clusters, `program-${index}`, options));
  return results;
}

/**
 * Runs one program from its start on an empty local cluster to its end, and empties that. An error of the program is in
 * the result.
 */
async function run(
  { contender, measure }: Entrant,
  clusters: Clusters,
  account: string,
  { rights, cleanUp, say }: RunOptions,
): Promise<Result> {
  const { name, command } = contender;
  const result: Result = { name };
  const files = await enrol(account, clusters, rights);
  const { dir } = clusters.local.api;
  const remotes = files.remotes.map(({ kubeconfig }, index) => ({ name: clusterName(index), kubeconfig }));
  const line = await command({ local: files.local.kubeconfig, remotes, dir });
  const programs: Program[] = [];
  const start = () => {
    const program = startProgram(line, { log: join(dir, `${account}-${programs.length}.log`) });
    programs.push(program);
    return program;
  };
  try {
    await measure({ result, account, start, say: (phase) => say(`${name}: ${phase}`) });
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
