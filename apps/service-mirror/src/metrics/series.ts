import { queueOfRemote } from './queue.ts';
import { runnersOfRemote } from './watchers.ts';

/** The labels that name remotes, with their values: series of these begin and end with the remotes. */
export const labelsOfRemotes = (names: readonly string[]) => ({
  remote: names,
  name: names.map(queueOfRemote),
  runner: names.flatMap(runnersOfRemote),
});
