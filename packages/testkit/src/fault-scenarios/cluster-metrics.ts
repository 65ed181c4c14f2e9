import type { Program } from '../program/program.ts';

/** A cluster, as the metrics with this prefix name it. */
type Watched = { readonly prefix: string; readonly cluster: string };

/** How often a program has opened watches of one cluster again, for one reason or for all. */
export async function watchRestarts(
  program: Program,
  { prefix, cluster, reason }: Watched & { readonly reason?: string | undefined },
): Promise<number> {
  const { body } = await program.get('/metrics');
  const series = body.split('\n').filter((line) => line.startsWith(`${prefix}_remote_watch_restarts_total{`));
  const counted = series.filter(
    (line) => line.includes(`remote="${cluster}"`) && (reason === undefined || line.includes(`reason="${reason}"`)),
  );
  return counted.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** 1 while a cluster answers a program, 0 while it doesn't; undefined if the program has nothing to do with it. */
export const remoteUp = (program: Program, { prefix, cluster }: Watched): Promise<number | undefined> =>
  program.metric(`${prefix}_remote_up`, { remote: cluster });
