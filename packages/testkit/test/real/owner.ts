/** A process that starts a cluster, says in which folder, and runs until somebody ends it. */
import { startRealCluster } from '@kube-semaphore/testkit';

const { dir } = await startRealCluster({ name: 'orphan' });
process.send?.(dir);
