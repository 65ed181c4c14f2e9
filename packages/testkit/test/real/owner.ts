import { startRealCluster } from '../../src/index.ts';
/** A process that starts a cluster, says in which folder, and runs until somebody ends it. */

const { dir } = await startRealCluster({ name: 'orphan' });
process.send?.(dir);
