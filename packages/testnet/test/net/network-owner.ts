/** A process that owns a network with a program on a node, says which pids are in it, and runs until it is ended. */
import { once } from 'node:events';
import { startNetwork } from '../../src/network.ts';

const network = await startNetwork(['a']);
const sleeper = network
  .node('a')
  .spawn('setsid', ['sh', '-c', 'echo $$; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] });
const [pid] = (await once(sleeper.stdout ?? sleeper, 'data')) as [Buffer];
const inode = await network.node('a').run('stat', ['-L', '-c', '%i', '/proc/self/ns/net']);
process.send?.({ pid: Number(pid.toString()), inode: inode.trim() });
