/** A process that starts a cluster of one node with Pods, reports the folders of its files, and runs until it is ended. */
import { startNodes } from './start-nodes.ts';
import { web } from './web.ts';

const { nodes } = await startNodes(1);
await web.deploy(nodes.cluster);
process.send?.([nodes.cluster.dir, ...nodes.nodes.map(({ dir }) => dir)]);
